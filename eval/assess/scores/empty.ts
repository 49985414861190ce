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
