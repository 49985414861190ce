import { isSameMention, type Mention, mentionsIn, plainNumbers } from "./number_mentions.ts";
import { countItems, countShared, f1 } from "./overlap.ts";
import { statedNumber } from "./stated_answer.ts";

const SYMBOL = /[^\s\p{Nd}]/gu;
const LETTER = /\p{L}/u;

/**
 * Whether a text has no letter, or that of an option alone, so that there is no meaning for a sentence
 * encoder to find.
 */
export function isWordless(text: string): boolean {
  return !LETTER.test(text) || loneOption(text.normalize("NFKC")) !== undefined;
}

/**
 * How far a reply gives a wordless reference: 1 or 0 for a single number and for the letter of an
 * option, which must be the reply's final answer. Of several numbers, or of symbols, the share that
 * the reply has; F1 if it is wordless, too. "100 200" may be one number or two; the nearest reading
 * counts.
 */
export function compareWordless(reply: string, reference: string): number {
  const option = loneOption(reference.normalize("NFKC"));
  if (option !== undefined) return chooses(plainNumbers(reply), option);
  return Math.max(...[true, false].map((joined) => {
    const [given, wanted] = [reply, reference].map((text) => plainNumbers(text, { joined }));
    return compareReading(given!, wanted!);
  }));
}

function compareReading(reply: string, reference: string): number {
  const [given, wanted] = [mentionsIn(reply), mentionsIn(reference)];
  const isReplyWordless = !LETTER.test(reply);
  if (wanted.length === 1) {
    const isCalculation = !isReplyWordless || reply.includes("=");
    const stated = isCalculation ? statedNumber(reply) : given.length === 1 ? given[0] : undefined;
    if (stated) return isSameMention(stated, wanted[0]!) ? 1 : 0;
    if (isCalculation) return 0;
  }
  const isNumeric = wanted.length > 0 || (isReplyWordless && given.length > 0);
  return isNumeric
    ? share(wanted.map(keyOf), given.map(keyOf), isReplyWordless)
    : share(reference.match(SYMBOL) ?? [], reply.match(SYMBOL) ?? [], isReplyWordless);
}

/** Of several numbers each counts without its unit. */
function keyOf({ values: [value], digits }: Mention): string {
  return String(value ?? digits);
}

function share(wanted: string[], given: string[], isReplyWordless: boolean): number {
  if (wanted.length === 0) return 0;
  const common = countShared(countItems(wanted), countItems(given));
  return isReplyWordless
    ? f1(common, { found: given.length, wanted: wanted.length })
    : common / wanted.length;
}

/** A letter between any signs: `B`, `(b)`, `**B.**`. I is left out: it is mostly the pronoun. */
const ALONE = /^[^\p{L}\p{N}]*([A-HJ])[^\p{L}\p{N}]*$/iu;
/** `B) Paris`, `b: Paris`. With a point it may be an initial. */
const LEADING = /^[^\p{L}\p{N}]*([A-HJ])\s?[):](?!\/)/iu;
/** "The answer is (B)", "Option B", "Antwort: B", "答案是B", `\boxed{B}`; not "the answer is B or C". */
const NAMED =
  /(?:\\boxed\{|(?<!\p{L})(?:[Aa]nswer|[Oo]ption|[Cc]hoice|Antwort|[Rr]éponse|[Rr]espuesta|[Oo]pción|[Rr]isposta|[Rr]esposta|[Оо]твет|答案|选项|選項|答え|正解)(?:\s+(?:is|ist|est|es|è|é)(?=\s))?(?:是|为|為|は)?)[\s:：—–"“'(*[]*([A-HJ])(?![\p{L}\p{N}'’-]|\s+(?:or|oder|ou|o|или)\s)/gu;
/** Any letter that stands by itself; not the article, as in "A cat", but "A is right". */
const OPTION_LETTER =
  /(?<![\p{L}\p{N}'’-])(?!A\s(?!(?:is|and|or|because)\b)\p{Ll})[A-HJ](?![\p{L}\p{N}'’-])/gu;
/** "Not B", "neither A nor B", "rather than B", "Option B" with a denial before it. */
const DENIED_BEFORE =
  /(?:\b(?:not|nor|neither|never|than|except|nicht|pas|niet)|n['’]t|不是|(?<!\p{L})не)\s(?:be\s)?(?:(?:the\s)?(?:option|answer|choice)\s)?[("'*[]*$/iu;
/** "B is wrong", "B is not right", "(B) isn't" */
const DENIED_BEHIND =
  /^[)"'*\].,]*\s(?:is|was|are|would be|seems)(?:\s(?:clearly|also|simply))?(?:n['’]t|\s(?:not|wrong|incorrect|false|out))(?!\p{L})/iu;

/** The letter of an option if a text is nothing else. */
function loneOption(text: string): string | undefined {
  return ALONE.exec(text)?.[1]?.toUpperCase();
}

/** How far a text chooses an option: 1, or the letter's share if it leaves several; 0 without it. */
function chooses(text: string, option: string): number {
  const chosen = optionOf(text);
  if (chosen !== undefined) return chosen === option ? 1 : 0;
  const letters = new Set(lettersIn(text));
  return letters.has(option) ? 1 / letters.size : 0;
}

/** The option that a text chooses, the last one that it names as such; `undefined` without one. */
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

/** The letters that stand by themselves and are not denied. */
function lettersIn(text: string): string[] {
  return [...text.matchAll(OPTION_LETTER)].filter(({ index }) => !isDenied(text, index))
    .map(([letter]) => letter);
}

function isDenied(text: string, at: number): boolean {
  return DENIED_BEFORE.test(text.slice(Math.max(0, at - 30), at)) ||
    DENIED_BEHIND.test(text.slice(at + 1, at + 40));
}
