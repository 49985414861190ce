import { assertEquals } from "@std/assert";
import { squadTokens } from "../../../../eval/assess/text/squad_tokens.ts";

const CASES: [text: string, expected: string[], why: string][] = [
  ["The well-known, A.I.!", ["wellknown", "ai"], "punctuation goes before articles do"],
  ["an Ananas in the theatre", ["ananas", "in", "theatre"], "only whole words are articles"],
  ["éa aé", ["éa", "aé"], "a letter beyond ASCII is no edge of a word"],
  ["a\u00a0b\u0085c", ["b", "c"], "blanks are what Python takes for them"],
  ["“quoted”", ["“quoted”"], "only ASCII punctuation goes"],
  ["订单已经。 can't“", ["订单", "已经", "cant“"], "only the piece without spaces is cut"],
];

for (const [text, expected, why] of CASES) {
  Deno.test(`SQuAD tokens: ${why}`, () => assertEquals(squadTokens(text), expected));
}
