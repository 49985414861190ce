/** Words for yes and no, in languages where they have no other meaning in another language. */
const YES = "yes yeah yep ja jawohl jo oui sí si sì sim да так tak evet はい ええ うん " +
  "是 是的 对 對 对的 對的 可以 能 会 會 有 네 예 نعم כן हाँ हां";
const NO = "no nope nein nee nej nei non não нет ні nie hayır いいえ いえ ううん " +
  "不 不是 不是的 不对 不對 不可以 不能 不会 不會 不行 没有 沒有 否 아니요 아니오 아뇨 لا לא नहीं";

const ANSWERS = new Map<string, YesOrNo>([
  ...YES.split(" ").map((word) => [word, "yes"] as const),
  ...NO.split(" ").map((word) => [word, "no"] as const),
]);

/** A yes or a no in any of the languages above. */
type YesOrNo = "yes" | "no";

/** The answer that a word gives, if any. */
function answerNamed(word: string): YesOrNo | undefined {
  return ANSWERS.get(word.toLowerCase());
}

/**
 * The first word of a text, if a punctuation mark (but not a hyphen) or the end of the text
 * follows. It may be in bold or italics: `**Yes**, it is`, but not `**No** refunds`.
 */
const FIRST =
  /^[^\p{L}\p{N}]*([\p{L}\p{M}]+)(?:[*_]+)?\s*(?:$|-\s|[\n.,;:!?()。，、；！،؛؟۔।…–—"'»”])/u;

/** The first word in lower case, if `FIRST` matches. */
function firstWord(text: string): string {
  return FIRST.exec(text)?.[1]?.toLowerCase() ?? "";
}

/** A single word, possibly with punctuation: `Yes`, `**no.**`. */
const ALONE = /^[^\p{L}\p{N}]*([\p{L}\p{M}]+)[^\p{L}\p{N}]*$/u;
/** "The answer is yes.", "Answer: **No**", "Antwort: ja"; not "the answer is no longer known". */
const NAMED =
  /(?<!\p{L})(?:answer|verdict|label|antwort|réponse|respuesta|risposta|resposta|antwoord|svaret|odpowiedź|ответ|答案|答え)\s?(?:is|ist|est|es|è|é|är|to|是|は|:|：)(?:\s?[:：])?[\s"“'(*[_]{0,4}([\p{L}\p{M}]+)(?=[*_"”')\]]{0,4}\s?(?:$|[\n.,;:!?。，！]))/giu;
/** True and false, possibly with a negation: "that is not true". */
const TRUTH =
  /(?:(?<denial>\bnot|n't|\bnever)\s+(?:\p{L}+\s+)?)?(?<![\p{L}\p{N}-])(?<word>true|false|untrue)(?![\p{L}\p{N}-])/giu;

const TRUTHS = new Map<string, YesOrNo>([["true", "yes"], ["false", "no"], ["untrue", "no"]]);

/** Words that begin a reply instead of a yes or a no. */
const LIKE = new Map<string, YesOrNo>([
  ..."sure correct right exactly indeed genau richtig exactement claro correcto certo конечно верно"
    .split(" ").map((word): [string, YesOrNo] => [word, "yes"]),
  ..."incorrect wrong never falsch niemals jamais incorrecto nunca mai неверно".split(" ")
    .map((word): [string, YesOrNo] => [word, "no"]),
]);

/** Words that may precede an answer. */
const REGRETS = "unfortunately|sorry|well|i'm afraid|leider|malheureusement|désolée?|" +
  "lamentablemente|desgraciadamente|lo siento|purtroppo|mi dispiace|infelizmente|lamento|helaas|" +
  "niestety|przykro mi|tyvärr|к сожалению|увы|maalesef|很遗憾|很抱歉|抱歉|残念ながら";
/** Words that mean yes by themselves, and strengthen an answer after them. */
const CERTAINLY =
  "of course|absolutely|certainly|definitely|natürlich|bien sûr|por supuesto|claro|" +
  "certo|certamente|naturalmente|assolutamente|com certeza|natuurlijk|zeker|självklart|oczywiście|" +
  "конечно|разумеется|tabii ki|elbette|当然|もちろんです|もちろん";
const NEVER = "auf keinen fall|pas du tout|en absoluto|de ninguna manera|de jeito nenhum|" +
  "de modo nenhum|helemaal niet|absolut inte|w żadnym razie";
/** Negations that are not answers by themselves. */
const DENIAL = "not at all|not|nicht|pas|niet|inte";

/** "Unfortunately not.", "Sorry, no", "Of course!", "Absolutely not.", "Claro que sí" */
const OPENING = new RegExp(
  `^[^\\p{L}\\p{N}]*(?:(?:${REGRETS})[,、\\s]+)?` +
    `(?:(?<never>${NEVER})|(?<sure>${CERTAINLY})?\\s*(?:(?:que|che|,?\\s?że)\\s+)?` +
    `(?:(?<denial>${DENIAL})|(?<answer>[\\p{L}\\p{M}]+))?)\\s*(?:$|[\\n.,;:!。])`,
  "iu",
);

/** Longer than any opening. Limits the pattern, which takes quadratic time for many blanks. */
const OPENING_CHARACTERS = 80;

/** The answer at the beginning of a text, outright or only by a polite word. */
function openingAnswer(text: string): { outright?: YesOrNo | undefined; polite?: YesOrNo } {
  const { never, denial, answer, sure } = OPENING.exec(text.slice(0, OPENING_CHARACTERS))?.groups ??
    {};
  if (never || denial) return { outright: "no" };
  if (answer) return { outright: answerNamed(answer) };
  return sure ? { polite: "yes" } : {};
}

/**
 * Whether a reply gives the same answer as a reference that is only a yes, a no, true or false.
 * `undefined` if the reference is anything else, or if the reply has no such answer.
 */
export function compareAnswers(reply: string, reference: string): 0 | 1 | undefined {
  const word = ALONE.exec(plain(reference))?.[1]?.toLowerCase() ?? "";
  const truth = TRUTHS.get(word);
  const answer = truth ?? answerNamed(word);
  if (answer === undefined) return undefined;
  const given = givenAnswer(plain(reply)) ?? (truth && only(truthsIn(plain(reply))));
  return given && (given === answer ? 1 : 0);
}

function plain(text: string): string {
  return text.normalize("NFKC").replaceAll("\u2019", "'");
}

/**
 * The yes or no at the beginning of a text, or in a sentence that names the answer. The latter
 * outweighs a polite word before it: "Of course! The answer is no."
 */
function givenAnswer(text: string): YesOrNo | undefined {
  const { outright, polite } = openingAnswer(text);
  const word = firstWord(text);
  const first = answerNamed(word) ?? TRUTHS.get(word) ?? outright;
  if (first) return first;
  const named = [...text.matchAll(NAMED)].map(([, word]) =>
    answerNamed(word!) ?? TRUTHS.get(word!.toLowerCase())
  );
  return only(named) ?? polite ?? LIKE.get(word);
}

function truthsIn(text: string): YesOrNo[] {
  return [...text.matchAll(TRUTH)].map(({ groups }) => {
    const truth = TRUTHS.get(groups!.word!.toLowerCase())!;
    if (!groups!.denial) return truth;
    return truth === "yes" ? "no" : "yes";
  });
}

/** The answer, if all are the same. */
function only(answers: (YesOrNo | undefined)[]): YesOrNo | undefined {
  const different = new Set(answers.filter((answer) => answer !== undefined));
  return different.size === 1 ? [...different][0] : undefined;
}
