import type { InteractionResult } from "../../schemas/interaction_result.ts";
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
