import type { PendingRun } from "./caller_tools.ts";
import type { CallerMessage } from "./conversation.ts";
import { createRecent } from "./recent.ts";

/** The runs that wait for their callers. */
interface PendingRuns {
  keep(run: PendingRun, caller: string): void;
  /**
   * A conversation with what its runs of the same caller had added; the results in it answer the
   * model's own calls. Results that the runs had added replace the caller's.
   */
  restore(conversation: CallerMessage[], caller: string): CallerMessage[];
}

const KEPT_MINUTES = 60;
const KEPT_CHARACTERS = 32_000_000;

/**
 * Remembers what a run did before it waited for the caller: the caller sends back only its
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
      const whole = conversation.flatMap((message): CallerMessage[] => {
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
      if (restored.size === 0) return whole;
      const added = new Set<CallerMessage>([...restored].flatMap((run) => run.added));
      const answered = new Set([...added].map(answeredId));
      return whole.filter((message) => {
        const id = answeredId(message);
        return id === undefined || added.has(message) || !answered.has(id);
      });
    },
  };
}

function answeredId(message: CallerMessage): string | undefined {
  return message.role === "tool" ? message.toolCallId : undefined;
}
