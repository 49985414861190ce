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
