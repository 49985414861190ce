/** What happens in a run, for those who watch it while it goes on. */
export type AgentEvent =
  | { type: "token"; text: string }
  | { type: "reasoning"; text: string }
  /** `args` is the model's own text where it is not a JSON object. */
  | { type: "tool_call"; id: string; name: string; args: Record<string, unknown> | string }
  | {
    type: "tool_result";
    id: string;
    name: string;
    content: string;
    status: "ok" | "error";
    ms: number;
  };

/** Takes one event. The run waits for it, so a slow reader slows the run and nothing piles up. */
export type Emit = (event: AgentEvent) => void | Promise<void>;
