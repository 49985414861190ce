import { createId } from "../../../shared/pages/random_id.ts";

/**
 * Tabs of one browser tell each other by locks which conversations they are receiving answers for.
 * A page without HTTPS from another machine has no locks, and one without storage cannot use them.
 */
const lockOf = (conversationId: string, tab: string) => `assay-chat ${conversationId} ${tab}`;

/** This tab. */
const TAB = createId();

/** Tells other tabs about an answer, until it is stored. */
export function announceAnswer(conversationId: string, stored: Promise<void>): void {
  navigator.locks?.request(lockOf(conversationId, TAB), { mode: "shared" }, () => stored)
    .catch(() => {});
}

/** Whether another tab receives an answer for a conversation. */
export async function isBeingAnswered(conversationId: string): Promise<boolean> {
  const { held = [] } = await navigator.locks?.query().catch(() => undefined) ?? {};
  return held.some(({ name = "" }) =>
    name.startsWith(lockOf(conversationId, "")) && name !== lockOf(conversationId, TAB)
  );
}
