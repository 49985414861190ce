/** Something that happened in a run. */
export type AgentEvent =
  | { type: "token"; text: string }
  | { type: "reasoning"; text: string }
  /** `args` is the model's text if it is not a JSON object. */
  | { type: "tool_call"; id: string; name: string; args: Record<string, unknown> | string }
  | {
    type: "tool_result";
    id: string;
    name: string;
    content: string;
    status: "ok" | "error";
    ms: number;
  };

/** Handles one event. The run waits for it, so that events do not pile up for a slow reader. */
export type Emit = (event: AgentEvent) => void | Promise<void>;
