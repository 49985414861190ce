import type { CheckOf } from "../../schemas/check_kinds.ts";
import { identifyLanguage } from "../language/language.ts";
import { decide, type Decision, notMet, untold } from "../../schemas/decision.ts";

/** Blocks of code (one that is cut off, too), code within a line, and addresses. */
const CODE = /(^|\n)[ \t]*(```|~~~).*?(?:\n[ \t]*\2|$)|`[^`\n]+`|\bhttps?:\/\/\S+/gs;
const LETTER = /\p{L}/u;

/**
 * By the words of a reply: code is much like English, whoever it is for. Loaded by a worker only: the
 * detector's tables have megabytes.
 */
export function decideLanguage({ value }: CheckOf<"language">, text: string): Decision {
  const wanted = [value].flat();
  if (!LETTER.test(text)) return notMet("it has no letters");
  const words = text.replaceAll(CODE, " ");
  if (!LETTER.test(words)) return untold("it has nothing but code and addresses");
  const { code, isReliable } = identifyLanguage(words);
  if (wanted.includes(code)) return decide(true, "");
  return isReliable
    ? notMet(`it is in "${code}"`)
    : untold("the text is too short to tell its language");
}
