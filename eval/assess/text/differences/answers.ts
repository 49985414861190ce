/** Words that are a whole answer, in the languages whose yes and no are no other word of another. */
const YES = "yes yeah yep ja jawohl jo oui sí si sì sim да так tak evet はい ええ うん " +
  "是 是的 对 對 对的 對的 可以 能 会 會 有 네 예 نعم כן हाँ हां";
const NO = "no nope nein nee nej nei non não нет ні nie hayır いいえ いえ ううん " +
  "不 不是 不是的 不对 不對 不可以 不能 不会 不會 不行 没有 沒有 否 아니요 아니오 아뇨 لا לא नहीं";

const ANSWERS = new Map<string, YesOrNo>([
  ...YES.split(" ").map((word) => [word, "yes"] as const),
  ...NO.split(" ").map((word) => [word, "no"] as const),
]);

/** A yes or a no, in whatever language. */
export type YesOrNo = "yes" | "no";

/** The answer that a word is, if it is one. */
export function answerNamed(word: string): YesOrNo | undefined {
  return ANSWERS.get(word.toLowerCase());
}

/**
 * The first word of a text, if a sign or the text's end stands behind it; no hyphen, but a dash. It may be in
 * bold or italics: `**Yes**, it is`, but not `**No** refunds`.
 */
const FIRST =
  /^[^\p{L}\p{N}]*([\p{L}\p{M}]+)(?:[*_]+)?\s*(?:$|-\s|[\n.,;:!?()。，、；！،؛؟۔।…–—"'»”])/u;

/** The first word of a text in lower case, if it stands by itself. */
export function firstWord(text: string): string {
  return FIRST.exec(text)?.[1]?.toLowerCase() ?? "";
}

/** Whether a text begins with a yes or a no that stands by itself, in any of many languages. */
export function answerOf(text: string): YesOrNo | undefined {
  return ANSWERS.get(firstWord(text));
}
