import { isSameMention, type Mention, mentionsIn, plainNumbers } from "./number_mentions.ts";
import { chooses, loneOption } from "./options.ts";
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
