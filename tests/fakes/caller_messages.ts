import type { CallerMessage } from "../../agent/core/run/caller_messages.ts";
import type { HistoryRepairs } from "../../agent/core/run/history.ts";

/** A message of the user. */
export const human = (content: string): CallerMessage => ({ role: "user", content });

/** An answer of the assistant. */
export const ai = (content: string): CallerMessage => ({ role: "assistant", content });

/** A tool's result, which names no call. */
export const tool = (content: string, name?: string): CallerMessage => ({
  role: "tool",
  content,
  ...(name !== undefined && { name }),
});

/** Of a conversation that is passed on as it is. */
export const NO_REPAIRS: HistoryRepairs = {
  system: 0,
  unanswered: 0,
  paired: 0,
  merged: 0,
  bridged: 0,
  opened: 0,
  filled: 0,
  dropped: 0,
  cut: 0,
};
