import type { CheckedReply, MeasuredReply } from "../../schemas/check_kinds.ts";
import { isSpaceless, wordSegments } from "../text/words.ts";
import { isRefusal } from "./refusal.ts";

/** A reply with what is found out if a check asks. */
export function measure(reply: MeasuredReply): CheckedReply {
  return {
    ...reply,
    words: () => countWords(reply.text),
    isRefusal: () => isRefusal(reply.text),
  };
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
