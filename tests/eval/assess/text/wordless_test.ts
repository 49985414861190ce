import { assertEquals } from "@std/assert";
import { compareWordless } from "../../../../eval/assess/text/wordless.ts";

const SAME: [reply: string, reference: string][] = [
  ["1.234,567", "1234.567"],
  ["0,125", "0.125"],
  ["1,250.50", "1250.5"],
  ["12,000", "12000"],
  ["12.00", "12"],
  ["10.050", "10.05"],
  ["Total: forty-six", "46"],
  ["Forty-two kilometres", "42"],
  ["Roughly a dozen metres tall", "12"],
];

for (const [reply, reference] of SAME) {
  Deno.test(`${reply} is the number ${reference}`, () => {
    assertEquals(compareWordless(reply, reference), 1);
  });
}

// Reading the rest again from each of their signs would take an hour.
const LONG: [what: string, number: string][] = [
  ["points", "1.".repeat(500_000) + "1"],
  ["commas", "1,".repeat(500_000) + "1"],
  ["zeros", `0.${"0".repeat(1_000_000)}1`],
];

for (const [what, number] of LONG) {
  Deno.test(`a number with a long row of ${what} is read once`, () => {
    assertEquals(compareWordless(number, "42"), 0);
    assertEquals(compareWordless(number, number), 1);
  });
}
