/** A number, a word, or a sign of a text. */
export interface Token {
  type: "number" | "word" | "sign";
  /** As it stands. */
  raw: string;
  /** In lower case. */
  text: string;
  /** Whether a blank or the text's beginning stands before it. */
  isApart: boolean;
}

/** Han characters are words of their own: no dictionary is asked. */
const TOKEN =
  /(\d+(?:[.,]\d+)*|(?<![\p{L}\d.,])\.\d+)|(\p{Script=Han}|[[\p{L}\p{M}]--\p{Script=Han}]+(?:'[[\p{L}\p{M}]--\p{Script=Han}]+)*)|\S/gv;

/** The same for a text of ASCII alone, several times faster. */
const ASCII_TOKEN = /(\d+(?:[.,]\d+)*|(?<![A-Za-z\d.,])\.\d+)|([A-Za-z]+(?:'[A-Za-z]+)*)|\S/g;
const ASCII_ONLY = /^[\0-\x7f]*$/;

/** A text's tokens, from left to right. */
export function tokenize(text: string): Token[] {
  const pattern = ASCII_ONLY.test(text) ? ASCII_TOKEN : TOKEN;
  const tokens: Token[] = [];
  let end = -1;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const raw = match[0];
    const isNumber = match[1] !== undefined;
    tokens.push({
      type: isNumber ? "number" : match[2] !== undefined ? "word" : "sign",
      raw,
      text: isNumber ? raw : raw.toLowerCase(),
      isApart: match.index !== end,
    });
    end = pattern.lastIndex;
  }
  return tokens;
}
