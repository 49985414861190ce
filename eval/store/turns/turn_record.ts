import type { InteractionResult, InteractionUsage } from "../../schemas/interaction_result.ts";
import type { Cost } from "../../schemas/cost.ts";
import type { ObservedToolCall } from "../../schemas/tools.ts";
import type { NOT_UTF8 } from "../../../shared/http/body/utf8.ts";
import type { TurnPosition } from "./position.ts";

/** A turn that is over: answered and scored, or failed. */
export interface StoredTurn extends TurnPosition {
  result: InteractionResult;
  /** The time from the question to the scores. */
  tookMs: number;
}

/** A turn for the events. `seq` grows with every turn of its run, in the order of storing. */
export interface TurnEvent extends TurnPosition {
  seq: number;
  /** The `InteractionResult` as JSON text, which is passed on without parsing. */
  resultJson: string;
}

/** A turn as it is stored. */
export interface TurnText extends TurnPosition {
  tookMs: number;
  /** The `InteractionResult` as JSON text, which is passed on without parsing. */
  resultJson: string;
}

/** A reply of the model under test, stored until its turn is stored. */
export interface ReceivedReply extends TurnPosition {
  content: string;
  usage: InteractionUsage | null;
  latencyMs: number;
  firstTokenMs?: number;
  finishReason?: string | null;
  reasoning?: string;
  /** Set if the endpoint's bytes were not UTF-8. */
  encoding?: typeof NOT_UTF8;
  /** What the endpoint called, if the run looks at it. */
  toolCalls?: ObservedToolCall[];
  /** What the call cost, if there are prices. */
  cost?: Cost | null;
}

/** A reply that an earlier process received and did not finish scoring. */
export interface PendingReply extends ReceivedReply {
  /** The run that asked for it and paid, if this run retries that one. */
  fromRun?: string;
  /** How many later processes have started to score it. */
  tries: number;
}
