/** A score of two texts that needs nothing else. In [0, 1]; `null`: no score for this pair. */
export type PairScore = (reply: string, reference: string) => number | null;

/** What `GET /scores` tells of a score. */
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

/** A score in the table of those that compare a reply with its reference text by text. */
export interface PairScorer extends ScoreDescription {
  /** In characters (UTF-16 code units): with a longer text there is no score. */
  longest: number;
  compare: PairScore;
}
