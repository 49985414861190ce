import type { PendingRun } from "../run/caller_tools.ts";
import type { CallerMessage } from "../run/conversation.ts";
import { createRecent } from "./recent.ts";

/** The runs that wait for results of a caller's tools. */
export interface PendingRuns {
  keep(run: PendingRun, caller: string): void;
  /**
   * A conversation with what its runs of the same caller had added; the results in it answer the
   * model's own calls.
   */
  restore(conversation: CallerMessage[], caller: string): CallerMessage[];
}

const KEPT_MINUTES = 60;
const KEPT_CHARACTERS = 32_000_000;

/**
 * Remembers what a run did before it called a tool of the caller: the caller sends back only its
 * own call and result, and without the rest the model would use the agent's tools again. If a run
 * was forgotten, or another process had it, the run continues with what the caller sent.
 */
export function createPendingRuns(): PendingRuns {
  const recent = createRecent<PendingRun>({
    maxAgeMs: KEPT_MINUTES * 60_000,
    maxCharacters: KEPT_CHARACTERS,
  });

  return {
    keep(run, caller) {
      recent.keep(run, { caller, keys: [...run.ids.keys()] });
    },
    restore(conversation, caller) {
      const ids = new Map<string, string>();
      const restored = new Set<PendingRun>();
      return conversation.flatMap((message): CallerMessage[] => {
        if (message.role === "tool") {
          const toolCallId = ids.get(message.toolCallId ?? "") ?? message.toolCallId;
          return [{ ...message, toolCallId }];
        }
        const call = message.role === "assistant" ? message.toolCalls?.[0] : undefined;
        const run = call && recent.find(call.id, caller);
        if (!run) return [message];
        if (restored.has(run)) return []; // some clients send each call of a turn by itself
        restored.add(run);
        for (const [theirs, own] of run.ids) ids.set(theirs, own);
        return run.added;
      });
    },
  };
}
