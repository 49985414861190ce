import { assert, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { chrf } from "../../../../eval/score/scores/lexical/chrf.ts";
import { exactMatch, tokenF1 } from "../../../../eval/score/scores/lexical/squad.ts";

/**
 * The reference algorithms again, as simple as possible: character by character, n-grams as
 * text. `reference_scores.py` makes the values of the self-test in the same way.
 */
const BLANKS = new Set([
  ..."\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004" +
    "\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000",
]);
const PUNCTUATION = new Set([..."!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"]);

function split(text: string): string[] {
  const pieces: string[] = [""];
  for (const sign of text) {
    if (!BLANKS.has(sign)) pieces[pieces.length - 1] += sign;
    else if (pieces.at(-1) !== "") pieces.push("");
  }
  return pieces.filter((piece) => piece !== "");
}

/** Runs of word characters and of others, in turn: an article is a whole run. */
function squad(text: string): string[] {
  const signs = [...text.toLowerCase()].filter((sign) => !PUNCTUATION.has(sign));
  const runs: string[] = [];
  let wasWord: boolean | undefined;
  for (const sign of signs) {
    const isWord = /^[\p{L}\p{N}]$/u.test(sign);
    if (isWord === wasWord) runs[runs.length - 1] += sign;
    else runs.push(sign);
    wasWord = isWord;
  }
  return split(runs.map((run) => ["a", "an", "the"].includes(run) ? " " : run).join(""));
}

function count(items: string[], order: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let i = 0; i + order <= items.length; i++) {
    const gram = JSON.stringify(items.slice(i, i + order));
    counts.set(gram, (counts.get(gram) ?? 0) + 1);
  }
  return counts;
}

function shared(left: Map<string, number>, right: Map<string, number>): number {
  return [...left].reduce((sum, [gram, n]) => sum + Math.min(n, right.get(gram) ?? 0), 0);
}

function plainF1(reply: string, reference: string): number {
  const [found, wanted] = [squad(reply), squad(reference)];
  const same = shared(count(found, 1), count(wanted, 1));
  return same === 0 ? 0 : 2 * same / (found.length + wanted.length);
}

function plainChrf(reply: string, reference: string): number {
  const [found, wanted] = [reply, reference].map((text) => [...split(text).join("")]);
  let [precision, recall, orders] = [0, 0, 0];
  for (let order = 1; order <= 6; order++) {
    const [ours, theirs] = [found!.length - order + 1, wanted!.length - order + 1];
    if (ours <= 0 || theirs <= 0) break;
    const same = shared(count(found!, order), count(wanted!, order));
    precision += same / ours;
    recall += same / theirs;
    orders++;
  }
  if (precision + recall === 0) return 0;
  return 5 * precision * recall / (4 * precision + recall) / orders;
}

/** Blanks and signs that languages treat differently, letters with unusual case, marks, emoji. */
const ODD = [
  ...[
    "a",
    "an",
    "the",
    "The",
    "cat",
    "x",
    "1",
    "9",
    " ",
    " ",
    "\n",
    ".",
    ",",
    "!",
    "'",
    "_",
    "(",
    "&",
  ],
  ..."\ufeff\u00b7\u200b\u0085\x1c\x1d\x1e\x1f\u00a0\u2028\u180e\u00ad\u200f\u0301\u0307",
  ..."İıßẞΣσςΑéÉ²①Ⅷ٣ＡＴ안녕नम्שلK👍🏽❤\ufe0f",
];
const odd = fc.array(fc.constantFrom(...ODD), { maxLength: 16 }).map((parts) => parts.join(""));
const pair = fc.oneof(
  fc.tuple(odd, odd),
  fc.tuple(odd, odd, odd).map(([a, b, c]): [string, string] => [`${a}${b}`, `${b}${c}`]),
);

Deno.test("exact_match is SQuAD's for any two odd texts", () => {
  fc.assert(fc.property(pair, ([reply, reference]) => {
    const expected = squad(reply).join(" ") === squad(reference).join(" ") ? 1 : 0;
    assertEquals(exactMatch(reply, reference), expected);
  }));
});

const CASES = [["token_f1", tokenF1, plainF1], ["chrf", chrf, plainChrf]] as const;
for (const [name, score, plain] of CASES) {
  Deno.test(`${name} is its definition's for any two odd texts that have tokens`, () => {
    fc.assert(fc.property(pair, ([reply, reference]) => {
      fc.pre(squad(reply).length + squad(reference).length > 0);
      const deviation = Math.abs(score(reply, reference) - plain(reply, reference));
      assert(deviation < 1e-9, `${deviation}`);
    }));
  });
}
