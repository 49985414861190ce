import type { z } from "zod";
import type { CallPiece } from "../../../shared/providers/provider.ts";
import type { ToolEvents } from "../agent_message.ts";

/** A call of one of the agent's own tools, or its result. */
export type ToolEvent = z.output<typeof ToolEvents>[number];

/** Something that happened in a run. */
export type AgentEvent =
  /** `logprobs` are those of this text, as the provider sent them. */
  | { type: "token"; text: string; logprobs?: Record<string, unknown> }
  | { type: "reasoning"; text: string }
  /**
   * A piece of a tool call that the caller has to run, at `index` among its calls of the turn. The
   * id and the name come at least with its first piece.
   */
  | CallPiece
  | ToolEvent;

/** Handles one event. The run waits for it, so that events do not pile up for a slow reader. */
export type Emit<Event = AgentEvent> = (event: Event) => void | Promise<void>;

/** How a caller follows its run. */
export interface RunObserver {
  /** Ends the run. */
  signal: AbortSignal;
  /** If given, the provider's answers are streamed and each event is passed to it. */
  emit?: Emit | undefined;
  /** Gets the events of the agent's tools without `emit`, of a run whose answers come whole. */
  onTool?: Emit<ToolEvent> | undefined;
}
