import type { InteractionResult } from "../../schemas/interaction_result.ts";

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

/** The position of an attempt in the batch, counted from 0. */
export interface AttemptPosition {
  scenario: number;
  attempt: number;
}

/** The position of a turn in the batch, counted from 0. */
export interface TurnPosition extends AttemptPosition {
  turn: number;
}

/** Turns of a scenario that follow one another, both ends included. */
export interface TurnRange {
  scenario: number;
  first: number;
  last: number;
}

export function isInRanges(
  { scenario, turn }: Pick<TurnPosition, "scenario" | "turn">,
  ranges: TurnRange[],
): boolean {
  return ranges.some((range) =>
    range.scenario === scenario && range.first <= turn && turn <= range.last
  );
}
