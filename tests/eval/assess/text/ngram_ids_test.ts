import { assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { NgramIds } from "../../../../eval/assess/text/ngram_ids.ts";
import { countItems, countShared } from "../../../../eval/assess/text/overlap.ts";

/** By the definition: the n-grams themselves, in bags. */
function sharedGrams(left: string[], right: string[], order: number): number {
  const bag = (tokens: string[]) =>
    countItems(
      tokens.slice(order - 1).map((_, i) => JSON.stringify(tokens.slice(i, i + order))),
    );
  return countShared(bag(left), bag(right));
}

function assertShared(pair: NgramIds, left: string[], right: string[]): void {
  for (let order = 1; order <= 6; order++) {
    assertEquals(pair.countShared(), sharedGrams(left, right, order), `order ${order}`);
    pair.lengthen();
  }
}

const tokens = (distinct: number, maxLength: number) =>
  fc.array(fc.integer({ min: 0, max: distinct - 1 }).map(String), { maxLength });

for (const [distinct, length] of [[3, 60], [40, 60], [1000, 400]] as const) {
  Deno.test(`shared n-grams are those of the definition, ${length} of ${distinct} tokens`, () => {
    const lists = fc.tuple(tokens(distinct, length), tokens(distinct, length));
    const many = lists.map(([left, right]): [string[], string[]] => [left, [...left, ...right]]);
    fc.assert(fc.property(fc.oneof(lists, many), ([left, right]) => {
      assertShared(NgramIds.ofWords(left, right), left, right);
      assertShared(NgramIds.ofNumbers(left.map(Number), right.map(Number)), left, right);
    }));
  });
}

Deno.test("tokens may be numbers beyond the table's end", () => {
  const [left, right] = [["128077", "97", "128077"], ["97", "128077", "1114111"]];
  assertShared(NgramIds.ofNumbers(left.map(Number), right.map(Number)), left, right);
});
