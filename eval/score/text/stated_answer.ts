import { isSameValue, readValues, type Value } from "./values.ts";

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
const SENTENCE_END = /(?<=[.!?。！？])[*_")\]]*\s+|\n+/gu;
/** Text in bold that begins with a number, which is not that of a heading or a list item. */
const BOLD = /\*\*([^\p{L}\d*\n]{0,5}\d(?!\d?[.):]\s)[^*\n]{0,40}(?<!:))\*\*/gu;
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

type Reader = (text: string) => Value[];

/**
 * The number that a text from `plainNumbers` gives as its final answer: in a box, after "the answer
 * is", after the last sign of equality, in bold, or else the last one that matches no `ASIDE`. None
 * if several are listed as alternatives: "40, 41 or 42". If the text has a value of the wanted
 * kind, those of other kinds do not count. Two numbers if the first sentence gives one, and a later
 * one is of another kind: "It costs $39. Delivery takes 3 days."
 */
export function statedNumbers(text: string, wanted: Value): Value[] {
  const isKind = ({ kind }: Value) => kind === wanted.kind;
  const read: Reader = wanted.kind !== "number" && readValues(text).some(isKind)
    ? (part) => readValues(part).filter((value) => isKind(value) || value.kind === "number")
    : readValues;
  const sentences = sentencesOf(text, read);
  const { text: said, isOutright } = findStatement(text, { sentences, read });
  const kept = keptIn(said, read);
  if (isOneOf(kept) && isOutright) return kept.slice(0, 1);
  const chosen = isOneOf(kept) ? kept[0] : choose(said, kept, { isOutright, text, read });
  const stated = chosen && (isOneOf(kept) || !isListed(chosen, kept, said)) ? [chosen] : [];
  const [first, ...more] = keptIn(sentences[0] ?? "", read);
  const isLead = first && more.length === 0 && !isOutright && chosen?.unit &&
    chosen.kind !== first.kind;
  return isLead ? [...stated, first] : stated;
}

/** The values that are not denied. */
function keptIn(said: string, read: Reader): Value[] {
  return read(said).filter(({ start }) => !isDenied(said, start));
}

function isDenied(text: string, at: number): boolean {
  return NEGATION.test(text.slice(Math.max(0, at - 30), at));
}

/** The part of a text with its answer, and whether the text names it as the answer. */
function findStatement(
  text: string,
  { sentences, read }: { sentences: string[]; read: Reader },
): { text: string; isOutright: boolean } {
  const boxed = [...text.matchAll(BOXED)].at(-1)?.[1];
  if (boxed !== undefined && read(boxed).length > 0) return { text: boxed, isOutright: true };
  let end = text.length;
  for (const { 0: match, index } of [...text.matchAll(STATEMENT)].reverse()) {
    const [said] = sentencesOf(text.slice(index + match.length, end), read);
    if (said !== undefined) return { text: said.slice(0, LONGEST_SENTENCE), isOutright: true };
    end = index;
  }
  const last = sentences.at(-1)?.slice(-LONGEST_SENTENCE) ?? "";
  const isMarked = last.search(EQUALS) >= 0 || read(last).some(({ start }) => isBold(last, start));
  const bold = isMarked ? undefined : boldNumber(text, read);
  return bold === undefined ? { text: last, isOutright: false } : { text: bold, isOutright: true };
}

/** The only number that a text has in bold: "**42 apples**", but not "**Step 1:**". */
function boldNumber(text: string, read: Reader): string | undefined {
  const bold = [...text.matchAll(BOLD)].filter((match) => !isDenied(text, match.index))
    .map(([, said]) => said!);
  const values = bold.map((said) => read(said)[0]);
  return isOneOf(values.filter((value) => value !== undefined)) ? bold[0] : undefined;
}

/** The sentences of a text that value a number. */
function sentencesOf(text: string, read: Reader): string[] {
  const values = read(text);
  const sentences: string[] = [];
  let [start, at] = [0, 0];
  const cut = (end: number) => {
    let count = 0;
    for (; at < values.length && values[at]!.start < end; at++) count++;
    if (count > 0) sentences.push(text.slice(start, end));
  };
  for (const { 0: mark, index } of text.matchAll(SENTENCE_END)) {
    // The point in "5. März" ends no sentence.
    const next = values.find((value, i) => i >= at && value.end > index);
    if (next && next.start < index) continue;
    cut(index);
    start = index + mark.length;
  }
  cut(text.length);
  return sentences;
}

function choose(
  said: string,
  values: Value[],
  { isOutright, text, read }: { isOutright: boolean; text: string; read: Reader },
): Value | undefined {
  const isDirect = isOutright && /^[^\p{L}\d]*(?:\p{L}+\s){0,3}[^\p{L}\d]*$/u.test(
    said.slice(0, values[0]?.start ?? 0),
  );
  const results = [...said.matchAll(EQUALS)];
  const behind = values.filter(({ start }) => start > (results.at(-1)?.index ?? Infinity));
  if (behind.length > 0) return behind[0];
  if (isDirect) return values[0];
  const bold = values.filter(({ start }) => isBold(said, start));
  if (isOneOf(bold)) return bold[0];
  const before = ({ start }: Value) => said.slice(Math.max(0, start - 30), start);
  const found = values.findLast((value) => COMES_TO.test(before(value)));
  if (found) return found;
  const computed = lastResult(text.slice(0, text.lastIndexOf(said)), read);
  const repeated = computed && values.find((value) => isSameValue(value, computed));
  if (repeated) return repeated;
  const asked = values.filter((value) => !ASIDE.test(before(value)));
  return asked.at(-1) ?? values.at(-1);
}

function isOneOf(values: Value[]): boolean {
  return values.length > 0 && values.every((one) => isSameValue(one, values[0]!));
}

function isBold(said: string, start: number): boolean {
  const before = said.slice(0, start).split("**").length;
  return before % 2 === 0 && said.indexOf("**", start) >= 0;
}

/** The result of the last calculation in a text. */
function lastResult(text: string, read: Reader): Value | undefined {
  const last = [...text.matchAll(EQUALS)].at(-1);
  return last && read(text.slice(last.index, last.index + 60))[0];
}

/** Whether a value is one of several in a list, so that none of them is the answer. */
function isListed(chosen: Value, values: Value[], said: string): boolean {
  const at = values.indexOf(chosen);
  return [[at - 1, at], [at, at + 1]].some(([left, right]) => {
    const [one, other] = [values[left!], values[right!]];
    if (!one || !other || isSameValue(one, other)) return false;
    const between = said.slice(one.end, other.start);
    return LISTED.test(between) || ALTERNATIVE.test(between);
  });
}
