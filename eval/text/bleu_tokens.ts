import { splitBlanks } from "./blanks.ts";

/**
 * The 13a tokens of sacreBLEU (mteval-v13a): punctuation stands alone, but `.` and `,` between
 * digits and a dash after a letter do not.
 */
export function bleuTokens(text: string): string[] {
  const line = unescape(
    text.trimEnd().replaceAll("<skipped>", "").replaceAll("-\n", "").replaceAll("\n", " "),
  );
  const spaced = ` ${line} `
    .replace(/[{-~[-` -&(-+:-@/]/gu, " $& ")
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
