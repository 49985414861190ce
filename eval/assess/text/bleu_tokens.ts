import { LONGEST_REMEMBERED, rememberLast } from "../background/remember_last.ts";
import { splitBlanks, trimEndBlanks } from "./blanks.ts";

/** A model that is sure of itself gives many turns the same reply, one after the other. */
const REMEMBERED = 2;

/**
 * The 13a tokens of sacreBLEU (mteval-v13a): punctuation stands alone, but `.` and `,` between
 * digits and a dash after a letter do not.
 */
export const bleuTokens = rememberLast(cutTokens, REMEMBERED, { longest: LONGEST_REMEMBERED });

function cutTokens(text: string): readonly string[] {
  const line = unescape(
    trimEndBlanks(text).replaceAll("<skipped>", "").replaceAll("-\n", "").replaceAll("\n", " "),
  );
  // The reference also sets a blank apart, which makes it three: nothing after this can tell.
  const spaced = ` ${line} `
    .replace(/[{-~[-`!-&(-+:-@/]/gu, " $& ")
    .replace(/([^0-9])([.,])/gu, "$1 $2 ")
    .replace(/([.,])([^0-9])/gu, " $1 $2")
    .replace(/([0-9])(-)/gu, "$1 $2 ");
  return splitBlanks(spaced);
}

/** In the order of the reference: `&amp;lt;` is undone twice there. */
function unescape(text: string): string {
  return text.replaceAll("&quot;", '"').replaceAll("&amp;", "&").replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">");
}
