/** A score of two texts that needs nothing else. In [0, 1]; `null`: no score for this pair. */
export type PairScore = (reply: string, reference: string) => number | null;

/** The span in which a score lies. */
export type Bounds = [low: number, high: number];

/** What `GET /scores` says about a score. */
export interface ScoreDescription {
  name: string;
  definition: string;
  range: [number, number];
  method: string;
  /** The implementation whose values it reproduces. */
  equals?: string;
  /** What the score cannot tell. */
  limits?: string;
}

/**
 * The longest text that any pair score takes, in characters. All scores of two such texts take one to
 * two seconds of a processor; a megabyte would take minutes and gigabytes, and a worker that runs
 * out of memory ends the process.
 */
export const MAX_PAIR_CHARACTERS = 200_000;

/** A score in the table of those that compare a reply with its reference text by text. */
export interface PairScorer extends ScoreDescription {
  /** In characters (UTF-16 code units): with a longer text there is no score. */
  longest: number;
  compare: PairScore;
}

/**
 * The value of every score if a text is empty: 1 if both are, 0 if one is. `undefined` if neither is,
 * and the score has to be computed.
 */
export function scoreOfEmpty(reply: string, reference: string): number | undefined {
  if (reply !== "" && reference !== "") return undefined;
  return reply === reference ? 1 : 0;
}

/**
 * The score of two texts in which a tokeniser finds nothing (blanks, `?!`): it has no ground to say
 * more than whether they are the same.
 */
export function scoreOfWordless(reply: string, reference: string): number {
  return reply.normalize("NFKC").trim() === reference.normalize("NFKC").trim() ? 1 : 0;
}
