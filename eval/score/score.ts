/** A score of two texts in [0, 1]; `null` if it is not defined for them. */
export type PairScore = (reply: string, reference: string) => number | null;

/** A score in `GET /scores`. */
export interface ScoreDescription {
  name: string;
  definition: string;
  range: [number, number];
  method: string;
  /** The reference implementation whose values it reproduces. */
  equals?: string;
  /** The limits of the score. */
  limits?: string;
}

/**
 * The longest text of any pair score, in characters. All scores of two such texts take one to two
 * seconds. A megabyte would take minutes and gigabytes, and a worker that runs out of memory ends
 * the process.
 */
export const MAX_PAIR_CHARACTERS = 200_000;

/** An entry of the table `pairScorers`. */
export interface PairScorer extends ScoreDescription {
  /** In characters (UTF-16 code units). A longer text has no score. */
  longest: number;
  compare: PairScore;
}

/**
 * The value of every score if both texts are empty (1) or one is (0); `undefined` if neither is.
 */
export function scoreOfEmpty(reply: string, reference: string): number | undefined {
  if (reply !== "" && reference !== "") return undefined;
  return reply === reference ? 1 : 0;
}

/**
 * The score of two texts without tokens (blanks, `?!`): whether they are the same.
 */
export function scoreOfWordless(reply: string, reference: string): number {
  return reply.normalize("NFKC").trim() === reference.normalize("NFKC").trim() ? 1 : 0;
}
