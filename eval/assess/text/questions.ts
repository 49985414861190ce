const SENTENCE = /[^.!?。！？؟…\n]*[^\s.!?。！？؟…](?:[ \u00a0\u202f]?[.!?。！？؟…])*/gu;
/** Japanese and Chinese questions may end with a full stop. */
const QUESTION = /[?？؟][^\p{L}\p{N}]*$|[か吗嗎][。.]?\s*$/u;
/** Enough to tell; a reply may have megabytes. */
const MAX_CHARACTERS = 2000;

/** Whether every sentence of a text is a question. */
export function isOnlyAsking(text: string): boolean {
  const sentences = text.slice(0, MAX_CHARACTERS).match(SENTENCE) ?? [];
  const said = sentences.filter((sentence) => /\p{L}/u.test(sentence));
  return said.length > 0 && said.every((sentence) => QUESTION.test(sentence));
}
