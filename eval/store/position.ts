/** The position of an attempt in the batch, counted from 0. */
export interface AttemptPosition {
  scenario: number;
  attempt: number;
}

/** The position of a turn in the batch, counted from 0. */
export interface TurnPosition extends AttemptPosition {
  turn: number;
}
