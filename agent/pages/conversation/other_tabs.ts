import { createId } from "./conversation.ts";

/** A line of the list of conversations. */
export interface ConversationEntry {
  id: string;
  title: string;
  changedAt: number;
}

/** What a tab has done to a conversation. */
export type Change = { saved: ConversationEntry } | { deleted: string };

let channel: BroadcastChannel | undefined;

/** Calls `react` for what other tabs of this browser do. Some browsers refuse that in private windows. */
export function followOtherTabs(react: (change: Change) => void): void {
  try {
    channel = new BroadcastChannel("assay-chat");
  } catch {
    return;
  }
  channel.addEventListener("message", ({ data }: MessageEvent<Change>) => react(data));
}

export function tellOtherTabs(change: Change): void {
  channel?.postMessage(change);
}

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
