/**
 * The score where a side is the empty string, the same for every score: 1 where both are, 0 where
 * one is. `undefined` where neither is, and the score has to be computed.
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
