import type { CheckOf } from "../../schemas/checks.ts";
import { isSpaceless, wordSegments } from "../text/words.ts";
import { decide, type Decision } from "./decision.ts";
import { isRefusal } from "./refusal.ts";
import { listOf } from "./shown.ts";

/** The checks that look at nothing but the text and need nothing but a function. */
export type TextCheck = CheckOf<
  | "contains"
  | "not_contains"
  | "equals"
  | "starts_with"
  | "max_chars"
  | "max_words"
  | "refusal"
>;

/**
 * Decides a check of a text, without its `negate`.
 *
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const check: TextCheck = { type: "contains", value: ["refund", "days"], ignore_case: true };
 * assertEquals(decideText(check, "Your REFUND takes 3 days."), { value: 1 });
 * assertEquals(decideText(check, "Your refund is on its way.").value, 0);
 * ```
 */
export function decideText(check: TextCheck, text: string): Decision {
  switch (check.type) {
    case "max_chars":
      return atMost(countCharacters(text), check.value, "characters");
    case "max_words":
      return atMost(countWords(text), check.value, "words");
    case "refusal":
      return decide(isRefusal(text), "it is no refusal");
    default:
      return compare(check, text);
  }
}

function compare(
  check: CheckOf<"contains" | "not_contains" | "equals" | "starts_with">,
  text: string,
): Decision {
  const form = check.ignore_case ? foldCase : normalForm;
  const own = form(text);
  const values = [check.value].flat();
  switch (check.type) {
    case "equals":
      return decide(values.some((value) => own === form(value)), "it is not equal");
    case "starts_with":
      return decide(values.some((value) => own.startsWith(form(value))), "it starts otherwise");
    case "not_contains": {
      const found = values.filter((value) => own.includes(form(value)));
      return decide(found.length === 0, `it contains ${listOf(found)}`);
    }
    case "contains": {
      const lacking = values.filter((value) => !own.includes(form(value)));
      const isMet = check.match === "any" ? lacking.length < values.length : lacking.length === 0;
      return decide(isMet, `it does not contain ${listOf(lacking)}`);
    }
  }
}

/** `é` is one character or two, and the same letter. */
function normalForm(text: string): string {
  return text.normalize("NFC");
}

/** Upper case, because there `ß` is `SS` and every sigma is the same. */
function foldCase(text: string): string {
  return text.normalize("NFC").toUpperCase().normalize("NFC");
}

/** Whether a number is within its limit. */
export function atMost(count: number, limit: number, unit: string): Decision {
  return decide(count <= limit, `it has ${count} ${unit}`);
}

/** In code points, as people count letters; an emoji may be several. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

const HAS_WORD = /[\p{L}\p{N}]/u;

/**
 * What stands between blanks and has a letter or a digit. Chinese, Japanese, Thai and others that are
 * written without blanks are cut by dictionary.
 */
function countWords(text: string): number {
  let count = 0;
  for (const piece of text.split(/\s+/u)) {
    if (!HAS_WORD.test(piece)) continue;
    if (!isSpaceless(piece)) count++;
    else for (const { isWordLike } of wordSegments(piece)) if (isWordLike) count++;
  }
  return count;
}
