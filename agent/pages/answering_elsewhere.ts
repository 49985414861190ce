/**
 * Tabs of one browser tell each other by locks which conversations they are receiving answers for.
 * A page that came without HTTPS from another machine has no locks, and cannot know; nor can one that
 * may store nothing.
 */
const lockOf = (conversationId: string) => `assay-chat ${conversationId}`;

/** How long after an answer it is surely stored. */
const STORED_AFTER_MS = 1_000;

/** Tells other tabs about an answer, until it has ended and is stored. */
export function announceAnswer(conversationId: string, answer: Promise<void>): void {
  const stored = answer.then(() => new Promise((done) => setTimeout(done, STORED_AFTER_MS)));
  navigator.locks?.request(lockOf(conversationId), { mode: "shared" }, () => stored)
    .catch(() => {});
}

/** Whether a tab receives an answer for a conversation. */
export async function isBeingAnswered(conversationId: string): Promise<boolean> {
  const { held = [] } = await navigator.locks?.query().catch(() => undefined) ?? {};
  return held.some(({ name }) => name === lockOf(conversationId));
}
