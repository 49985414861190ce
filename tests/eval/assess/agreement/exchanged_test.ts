import { assertEquals } from "@std/assert";
import { findExchanged } from "../../../../eval/assess/agreement/exchanged.ts";

const EXCHANGED: [reference: string, reply: string, says: string][] = [
  ["Cats chase mice.", "Mice chase cats.", "mice and cats exchanged"],
  ["Ada has to inform Bob.", "Bob has to inform Ada.", "bob and ada exchanged"],
  ["Copy it from A to B.", "Copy it from B to A.", "b and a exchanged"],
  [
    "First add the acid, then the water.",
    "First add the water, then the acid.",
    "water and acid exchanged",
  ],
  ["Blue means cold and red hot.", "Red means cold and blue hot.", "red and blue exchanged"],
];

for (const [reference, reply, says] of EXCHANGED) {
  Deno.test(`parts that changed places are named: ${reply}`, () => {
    assertEquals(findExchanged(reply, reference).map(({ text }) => text), [says]);
  });
}

const ALIKE: [reference: string, reply: string][] = [
  ["You need eggs, milk and flour.", "You need flour, milk and eggs."],
  ["The pool is open and the bar is closed.", "The bar is closed and the pool is open."],
  ["The capital of Peru is Lima.", "Lima is the capital of Peru."],
  ["The shop is closed on Sundays.", "On Sundays the shop is closed."],
  ["He died in Rome in 1909.", "He died in 1909 in Rome."],
  ["Pay first. Then sign.", "Sign. Then pay first."],
  ["It works.", "It works."],
  ["", "Yes."],
];

for (const [reference, reply] of ALIKE) {
  Deno.test(`parts that may change places: "${reference}" and "${reply}"`, () => {
    assertEquals(findExchanged(reply, reference), []);
  });
}
