import type { Emit, ToolEvent } from "../run/events.ts";

/** What the tools of a run do, collected for its answer. */
export interface ToolEvents {
  seen: ToolEvent[];
  add: Emit<ToolEvent>;
}

/** True if the caller wants to know what the tools do: `x-agent-events: tools`. */
export function wantsToolEvents({ headers }: Request): boolean {
  return headers.get("x-agent-events")?.trim().toLowerCase() === "tools";
}

/** `undefined` if the caller does not ask for them. */
export function collectToolEvents(request: Request): ToolEvents | undefined {
  if (!wantsToolEvents(request)) return undefined;
  const seen: ToolEvent[] = [];
  return { seen, add: (event) => void seen.push(event) };
}
