import { isSameMention, type Mention, mentionsIn } from "./number_mentions.ts";

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
