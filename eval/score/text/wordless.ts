import { countItems, countShared, f1 } from "./overlap.ts";
import { statedNumbers } from "./stated_answer.ts";
import { isSameValue, plainNumbers, readValues, type Value } from "./values.ts";

const SYMBOL = /[^\s\p{Nd}]/gu;
const LETTER = /\p{L}/u;

/**
 * Whether a text has no letters, or only that of an option: sentence encoders are of no use for it.
 */
export function isWordless(text: string): boolean {
  return !LETTER.test(text) || loneOption(text.normalize("NFKC")) !== undefined;
}

/**
 * Compares a reply with a wordless reference. A single number or the letter of an option must be
 * the reply's final answer: 1 or 0. For several numbers, or symbols, the share that the reply has;
 * F1 if the reply is wordless too. "100 200" may be one number or two; the better result counts.
 */
export function compareWordless(reply: string, reference: string): number {
  const option = loneOption(reference.normalize("NFKC"));
  if (option !== undefined) return chooses(plainNumbers(reply), option);
  const pairOf = (joined: boolean) =>
    [reply, reference].map((text) => plainNumbers(text, { joined })) as [string, string];
  const [one, two] = [pairOf(true), pairOf(false)];
  const score = compareReading(...one);
  return one.join() === two.join() ? score : Math.max(score, compareReading(...two));
}

function compareReading(reply: string, reference: string): number {
  const wanted = readValues(reference);
  const isReplyWordless = !LETTER.test(reply);
  const isCalculation = !isReplyWordless || reply.includes("=");
  const [only, ...more] = wanted;
  const isSame = (value: Value) => isSameValue(value, only!);
  if (only && more.length === 0 && isCalculation) {
    return statedNumbers(reply, only).some(isSame) ? 1 : 0;
  }
  const given = readValues(reply);
  if (only && more.length === 0 && given.length === 1) return given.some(isSame) ? 1 : 0;
  const isNumeric = wanted.length > 0 || (isReplyWordless && given.length > 0);
  return isNumeric
    ? share(wanted.map(keyOf), given.map(keyOf), isReplyWordless)
    : share(reference.match(SYMBOL) ?? [], reply.match(SYMBOL) ?? [], isReplyWordless);
}

/** Several numbers are compared without their units. */
function keyOf({ amounts: [amount] = [], digits }: Value): string {
  return String(amount ?? digits);
}

function share(wanted: string[], given: string[], isReplyWordless: boolean): number {
  if (wanted.length === 0) return 0;
  const common = countShared(countItems(wanted), countItems(given));
  return isReplyWordless
    ? f1(common, { found: given.length, wanted: wanted.length })
    : common / wanted.length;
}

/** A single letter, possibly with punctuation: `B`, `(b)`, `**B.**`. Not I, the pronoun. */
const ALONE = /^[^\p{L}\p{N}]*([A-HJ])[^\p{L}\p{N}]*$/iu;
/** `B) Paris`, `b: Paris`. Not with a point, which may be an initial. */
const LEADING = /^[^\p{L}\p{N}]*([A-HJ])\s?[):](?!\/)/iu;
/**
 * "The answer is (B)", "Option B", "Antwort: B", "答案是B", `\boxed{B}`; not "the answer is B or C".
 */
const NAMED =
  /(?:\\boxed\{|(?<!\p{L})(?:[Aa]nswer|[Oo]ption|[Cc]hoice|Antwort|[Rr]éponse|[Rr]espuesta|[Oo]pción|[Rr]isposta|[Rr]esposta|[Оо]твет|答案|选项|選項|答え|正解)(?:\s+(?:is|ist|est|es|è|é)(?=\s))?(?:是|为|為|は)?)[\s:：—–"“'(*[]*([A-HJ])(?![\p{L}\p{N}'’-]|\s+(?:or|oder|ou|o|или)\s)/gu;
/** Any single letter; not the article as in "A cat", but "A is right". */
const OPTION_LETTER =
  /(?<![\p{L}\p{N}'’-])(?!A\s(?!(?:is|and|or|because)\b)\p{Ll})[A-HJ](?![\p{L}\p{N}'’-])/gu;
/** "Not B", "neither A nor B", "rather than B", "not option B". */
const DENIED_BEFORE =
  /(?:\b(?:not|nor|neither|never|than|except|nicht|pas|niet)|n['’]t|不是|(?<!\p{L})не)\s(?:be\s)?(?:(?:the\s)?(?:option|answer|choice)\s)?[("'*[]*$/iu;
/** "B is wrong", "B is not right", "(B) isn't" */
const DENIED_BEHIND =
  /^[)"'*\].,]*\s(?:is|was|are|would be|seems)(?:\s(?:clearly|also|simply))?(?:n['’]t|\s(?:not|wrong|incorrect|false|out))(?!\p{L})/iu;

/** The letter of an option, if the text is only that. */
function loneOption(text: string): string | undefined {
  return ALONE.exec(text)?.[1]?.toUpperCase();
}

/** 1 if a text chooses the option, its share if the text leaves several options, else 0. */
function chooses(text: string, option: string): number {
  const chosen = optionOf(text);
  if (chosen !== undefined) return chosen === option ? 1 : 0;
  const letters = new Set(lettersIn(text));
  return letters.has(option) ? 1 / letters.size : 0;
}

/** The option that a text chooses, of several the last one named; `undefined` if none. */
function optionOf(text: string): string | undefined {
  const alone = loneOption(text);
  if (alone) return alone;
  const named = [...text.matchAll(NAMED)].filter((match) => {
    const at = match.index + match[0].length - 1;
    return !isDenied(text, at) && !isDenied(text, match.index);
  });
  const [, last] = named.at(-1) ?? [];
  const [, leading] = LEADING.exec(text) ?? [];
  return last ??
    (leading && lettersIn(text).every((letter) => letter === leading.toUpperCase())
      ? leading.toUpperCase()
      : undefined);
}

/** The single letters that are not denied. */
function lettersIn(text: string): string[] {
  return [...text.matchAll(OPTION_LETTER)].filter(({ index }) => !isDenied(text, index))
    .map(([letter]) => letter);
}

function isDenied(text: string, at: number): boolean {
  return DENIED_BEFORE.test(text.slice(Math.max(0, at - 30), at)) ||
    DENIED_BEHIND.test(text.slice(at + 1, at + 40));
}
