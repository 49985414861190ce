/** Enough of a text to tell its language. */
const MAX_CHARACTERS = 2000;
/** Japanese has more kana than this among its characters; a Chinese text may quote a name. */
const KANA_SHARE = 0.05;
/** Japanese sentences of so many Han characters have kana; shorter ones may have none. */
const SURE_CHARACTERS = 12;

/**
 * Whether a text is written in Chinese: in Han characters without kana. A few Han characters may as
 * well be Japanese; then `context` decides, the references and messages of the batch, say.
 */
export function isChinese(text: string, context: string): boolean {
  const { han, kana } = countCharacters(text);
  if (han === 0 || isJapanese({ han, kana })) return false;
  return han >= SURE_CHARACTERS || !isJapanese(countCharacters(context));
}

interface Characters {
  han: number;
  kana: number;
}

function countCharacters(text: string): Characters {
  const beginning = text.slice(0, MAX_CHARACTERS);
  const count = (pattern: RegExp) => beginning.match(pattern)?.length ?? 0;
  return {
    han: count(/\p{Script=Han}/gu),
    kana: count(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu),
  };
}

function isJapanese({ han, kana }: Characters): boolean {
  return kana > KANA_SHARE * (han + kana);
}
