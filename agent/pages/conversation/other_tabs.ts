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
