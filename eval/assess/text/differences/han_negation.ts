/** What a Chinese or Japanese text denies: the characters that its negations are about. */
export interface Denials {
  text: string;
  heads: string[];
}

/** Words that contain a negation and deny nothing. */
const CHINESE_IDIOMS =
  /不客气|不用谢|没关系|没问题|没事|不错|不过|不但|不仅|不管|不久|不断|不同|对不起|不好意思|要不|非常|未来|无论|别人|特别|分别|区别|个别|级别|性别|类别|无线|(.)不\1|有没有/gu;
/** A modal verb before or after a negation is passed over: 不可以退款 is about 退款. */
const CHINESE_NEGATION =
  /(?:没有|不|没|无法|未|勿|禁止|请勿|别)(?:能够?|可以|会|得|要|需要|应该|是|有|再|支持)?(\p{Script=Han}{2})/gu;

/** A question or an exception says of nothing that it is so, or is not. */
const CHINESE_OPEN =
  /[？?]$|除非|否则|何不|(?:如果|要是|假如|若(?!干))[^，,]{0,60}[不没未无]|[不没未无][^，,]{0,60}的话/u;
const JAPANESE_OPEN =
  /[？?]$|ない(?:場合(?![がも](?:あ|ござ))|限り|ときは|時は)|なければ|ないと(?!思|考|い[いうっ]|言|聞|の)/u;
/** Nor does a condition; the clause behind it does. */
const CHINESE_CONDITION =
  /(?:如果|要是|假如|若(?!干)|只要)[^，,。！？!?\n]*|[^，,。！？!?\n]{0,60}的话/gu;
const JAPANESE_CONDITION =
  /[^、,。！？!?\n]{0,60}?(?:場合(?![がも](?:あ|ござ))|なければ|ないと(?!思|考|い[いうっ]|言|聞|の)|ときは|時は|限り)/gu;
const SENTENCE = /[^。！？!?\n]+[。！？!?\n]?/gu;

/** A text without its open sentences. */
function withoutSentences(open: RegExp, text: string): string {
  return (text.match(SENTENCE) ?? []).filter((sentence) => !open.test(sentence)).join("");
}

const JAPANESE_IDIOMS =
  /すみません|申し訳(?:ありません|ございません|ない)|かもしれ(?:ません|ない)|間違い(?:ありません|ない)|な(?:ければ|いと|くては)(?:なりません|ならない|いけません|いけない)|ませんか|ないわけでは(?:ありません|ない)|少ない|危ない|もったいない|しかない|構いません/g;
const JAPANESE_NEGATION =
  /([\p{Script=Han}\p{Script=Katakana}ー]{1,8})([\p{Script=Hiragana}]{0,6}?)(?:ませんでした|ません|なかった|ない)/gu;

/** "Is not a thing that is done" is "is not done": 共有することはありません. */
const JAPANESE_FACT = /こと[はがも](?=あり|ない|でき|ござい)/g;

/** Reads the denials of a Chinese text. */
export function chineseDenials(text: string): Denials {
  const plain = withoutSentences(CHINESE_OPEN, text.replace(CHINESE_IDIOMS, "，"))
    .replace(CHINESE_CONDITION, "");
  return { text: plain, heads: [...plain.matchAll(CHINESE_NEGATION)].map(([, head]) => head!) };
}

/** Reads the denials of a Japanese text. */
export function japaneseDenials(text: string): Denials {
  const plain = withoutSentences(JAPANESE_OPEN, text.replace(JAPANESE_IDIOMS, "、"))
    .replace(JAPANESE_CONDITION, "").replace(JAPANESE_FACT, "");
  return { text: plain, heads: [...plain.matchAll(JAPANESE_NEGATION)].map(([, head]) => head!) };
}

/** Whether what one text denies stands in the other, and is not denied there. */
export function compareDenials(left: Denials, right: Denials): boolean {
  const denies = (one: Denials, other: Denials) =>
    one.heads.some((head) => other.text.includes(head) && !other.heads.includes(head));
  // Two negations in one text may undo each other: nothing is said then.
  if (left.heads.length > 1 || right.heads.length > 1) return false;
  return denies(left, right) || denies(right, left);
}
