import type { AgentEvent, Emit } from "../run/events.ts";

/** What the tools of a run do, collected for its answer. */
export interface ToolEvents {
  seen: AgentEvent[];
  emit: Emit;
}

/** True if the caller wants to know what the tools do: `x-agent-events: tools`. */
export function wantsToolEvents({ headers }: Request): boolean {
  return headers.get("x-agent-events")?.trim().toLowerCase() === "tools";
}

/** `undefined` if the caller does not ask for them. */
export function collectToolEvents(request: Request): ToolEvents | undefined {
  if (!wantsToolEvents(request)) return undefined;
  const seen: AgentEvent[] = [];
  return {
    seen,
    emit(event) {
      if (event.type === "tool_call" || event.type === "tool_result") seen.push(event);
    },
  };
}
