import { assertEquals } from "@std/assert";
import { bleuTokens } from "../../../../eval/assess/scores/lexical/bleu.ts";

const SIGNS = [...'!"#$%&()*+/:;<=>?@[\\]^_`{|}~'].join("x");

/** As sacreBLEU's 13a tokeniser cuts them. */
const CASES: [text: string, expected: string[], why: string][] = [
  ["Hello, world.", ["Hello", ",", "world", "."], "a stop and a comma stand alone"],
  ["1,204.50 EUR", ["1,204.50", "EUR"], "but not between digits"],
  ["5.x and v.5", ["5", ".", "x", "and", "v", ".", "5"], "a digit on one side is not enough"],
  ["88-1043 well-known", ["88", "-", "1043", "well-known"], "a dash after a digit stands alone"],
  ["(a/b)", ["(", "a", "/", "b", ")"], "other signs always do"],
  [SIGNS, [...SIGNS], "each for itself"],
  ["isn't", ["isn't"], "an apostrophe never does"],
  ["&lt;b&gt; &amp;quot;", ["<", "b", ">", "&", "quot", ";"], "entities are undone in their order"],
  ["hyphen-\nated", ["hyphenated"], "a word cut at a line's end is whole"],
  ["a<skipped>b", ["ab"], "what was skipped is not there"],
];

for (const [text, expected, why] of CASES) {
  Deno.test(`13a tokens: ${why}`, () => assertEquals(bleuTokens(text), expected));
}
