import { isSameMention, type Mention, mentionsIn, plainNumbers } from "./number_mentions.ts";
import { countItems, countShared, f1 } from "./overlap.ts";

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

/** Several numbers are compared without their units. */
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

/** Words for "answer", in the most common languages of replies. */
const ANSWER_WORD = "answer|result|solution|antwort|ergebnis|lösung|réponse|résultat|respuesta|" +
  "resultado|risposta|risultato|resposta|antwoord|svaret|odpowiedź|wynik|ответ|результат|答案|结果|答え";
const STATES =
  "is|are|was|will be|would be|should be|must be|comes to|ist|est|es|è|é|är|to|是|は|:|：|=|\\$";
/** "The answer is", "Final answer:", "**Answer:**", "####". The answer itself follows. */
const STATEMENT = new RegExp(
  `(?<!\\p{L})(?:${ANSWER_WORD})(?!\\p{L})[^\\n.!?=:：,\\d]{0,60}?(?:(?<=[\\s*_])|(?=[:：=是は]))(?:${STATES})(?!\\p{L})[*_:：\\s]*|####`,
  "giu",
);
const BOXED = /\\boxed\s?\{((?:[^{}]|\{[^{}]*\})*)\}/g;
/** Of a longer sentence only the end nearest to the answer is read. */
const LONGEST_SENTENCE = 2000;
/** The end of a sentence or a line. */
const SENTENCE_END = /(?<=[.!?。！？])[*_")\]]*\s+|\n+/u;
/** Signs of equality and equivalent words. */
const EQUALS = /[=≈≅]|\bequals\b|\bis equal to\b|\bequal to\b/giu;
const NEGATION =
  /(?:\bnot|\bnor|n't|\bnever|\bcannot be|≠|!=|\bnicht|\bkeine?|\bpas|\bno es|\bnon è|\bnão é|\bniet|(?<!\p{L})не|不是|ではなく)\s?(?:(?:be|just|only|exactly|equal to|simply|the answer)\s)?[*_(]*$/iu;
/** Words before a number that is a measure or an earlier amount, not the answer. */
const ASIDE =
  /(?:\bthan|\bout of|\bper|\bin|\bfor|\bafter|\bevery|\bwithin|\bduring|\bof|\bfrom|\bwith|\bby|\bat|\bthe|\bthose|\bthese|\ball|\bboth|\beach of|\bsince|\bbetween)\s(?:the |all |his |her |their |its |these |those |only |just |another )?[*_(]*$/i;
/** Words before a number that is a result. */
const COMES_TO =
  /\b(?:is|makes|gives|leaves|becomes|totals|get|gets|total of|result of)\s(?:us |only |about )?[*_(]*$/i;
/** Separators between members of a list or between choices. */
const LISTED =
  /^[*_\s]*(?:[,;/&]|(?:[,;]\s*)?(?:and|or|to|und|oder|et|ou|y|o|e|или|и|或|和)(?!\p{L}))\s*[*_$]*$/iu;
const ALTERNATIVE = /^[^\d.;:!?\n]{0,25}(?<!\p{L})(?:or|oder|ou|или)(?!\p{L})[^\d.;:!?\n]{0,15}$/iu;

/**
 * The number that a text from `plainNumbers` gives as its final answer: in a box, after "the answer
 * is", after the last sign of equality, in bold, or else the last one that matches no `ASIDE`.
 * `undefined` if there is none, or if several are listed as alternatives: "40, 41 or 42".
 */
export function statedNumber(text: string): Mention | undefined {
  const { text: said, isOutright } = findStatement(text);
  const kept = mentionsIn(said).filter(({ start }) =>
    !NEGATION.test(said.slice(Math.max(0, start - 30), start))
  );
  if (isOneOf(kept)) return kept[0];
  const chosen = choose(said, kept, { isOutright, text });
  return chosen && isListed(chosen, kept, said) ? undefined : chosen;
}

/** The part of a text with its answer, and whether the text names it as the answer. */
function findStatement(text: string): { text: string; isOutright: boolean } {
  const boxed = [...text.matchAll(BOXED)].at(-1)?.[1];
  if (boxed !== undefined && mentionsIn(boxed).length > 0) return { text: boxed, isOutright: true };
  let end = text.length;
  for (const { 0: match, index } of [...text.matchAll(STATEMENT)].reverse()) {
    const [said] = sentencesOf(text.slice(index + match.length, end));
    if (said !== undefined) return { text: said.slice(0, LONGEST_SENTENCE), isOutright: true };
    end = index;
  }
  return { text: sentencesOf(text).at(-1)?.slice(-LONGEST_SENTENCE) ?? "", isOutright: false };
}

/** The sentences of a text that mention a number. */
function sentencesOf(text: string): string[] {
  return text.split(SENTENCE_END).filter((sentence) => mentionsIn(sentence).length > 0);
}

function choose(
  said: string,
  mentions: Mention[],
  { isOutright, text }: { isOutright: boolean; text: string },
): Mention | undefined {
  const isDirect = isOutright && /^[^\p{L}\d]*(?:\p{L}+\s){0,3}[^\p{L}\d]*$/u.test(
    said.slice(0, mentions[0]?.start ?? 0),
  );
  const results = [...said.matchAll(EQUALS)];
  const behind = mentions.filter(({ start }) => start > (results.at(-1)?.index ?? Infinity));
  if (behind.length > 0) return behind[0];
  if (isDirect) return mentions[0];
  const bold = mentions.filter(({ start, end }) => isBold(said, start, end));
  if (isOneOf(bold)) return bold[0];
  const before = ({ start }: Mention) => said.slice(Math.max(0, start - 30), start);
  const found = mentions.findLast((mention) => COMES_TO.test(before(mention)));
  if (found) return found;
  const computed = lastResult(text.slice(0, text.lastIndexOf(said)));
  const repeated = computed && mentions.find((mention) => isSameMention(mention, computed));
  if (repeated) return repeated;
  const asked = mentions.filter((mention) => !ASIDE.test(before(mention)));
  return asked.at(-1) ?? mentions.at(-1);
}

function isOneOf(mentions: Mention[]): boolean {
  return mentions.length > 0 && mentions.every((one) => isSameMention(one, mentions[0]!));
}

function isBold(said: string, start: number, end: number): boolean {
  const before = said.slice(0, start).split("**").length;
  return before % 2 === 0 && said.indexOf("**", end) >= 0;
}

/** The result of the last calculation in a text. */
function lastResult(text: string): Mention | undefined {
  const last = [...text.matchAll(EQUALS)].at(-1);
  return last && mentionsIn(text.slice(last.index, last.index + 60))[0];
}

/** Whether a mention is one of several in a list, so that none of them is the answer. */
function isListed(chosen: Mention, mentions: Mention[], said: string): boolean {
  const at = mentions.indexOf(chosen);
  return [[at - 1, at], [at, at + 1]].some(([left, right]) => {
    const [one, other] = [mentions[left!], mentions[right!]];
    if (!one || !other || isSameMention(one, other)) return false;
    const between = said.slice(one.end, other.start);
    return LISTED.test(between) || ALTERNATIVE.test(between);
  });
}
