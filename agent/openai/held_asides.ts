import type { AgentEvent, Emit } from "../run/events.ts";

/** The events of a run whose answer is JSON. */
export interface HeldAsides {
  readonly emit: Emit;
  /** Passes on the text that is held when the run has ended: it is the answer, or a part of it. */
  end(): Promise<void>;
}

/**
 * Leaves out what the model says beside its calls of the agent's own tools: in a stream it would
 * stand before the JSON, and no client could parse the text. Text that begins as JSON does is passed
 * on as it comes. Other text is held until it is known whether the turn calls a tool.
 */
export function holdAsides(emit: Emit): HeldAsides {
  let held: AgentEvent[] = [];
  /** What the text of this turn is, once it is known. */
  let kind: "json" | "other" | undefined;

  async function end(): Promise<void> {
    const events = held;
    held = [];
    for (const event of events) await emit(event);
  }

  return {
    end,
    async emit(event) {
      if (event.type === "token") {
        if (event.text.trim()) kind ??= /^\s*[{[]/.test(event.text) ? "json" : "other";
        held.push(event);
        if (kind === "json") await end();
        return;
      }
      if (event.type === "tool_call") {
        held = [];
        kind = undefined;
      }
      if (event.type === "call") await end();
      await emit(event);
    },
  };
}
