import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { signFlip } from "../../../eval/compare/statistics/sign_flip.ts";

const options = { seed: 1, pause: () => Promise.resolve() };

/** The definition, tried on every one of the 2^n ways to choose signs. */
function everySign(differences: number[]): number {
  const real = Math.abs(differences.reduce((sum, value) => sum + value, 0));
  let asFar = 0;
  for (let mask = 0; mask < 2 ** differences.length; mask++) {
    const sum = differences.reduce(
      (sum, value, bit) => sum + (mask >> bit & 1 ? -value : value),
      0,
    );
    if (Math.abs(sum) >= real - 1e-12) asFar++;
  }
  return asFar / 2 ** differences.length;
}

const differences = fc.array(
  fc.integer({ min: -20, max: 20 }).map((value) => value / 20),
  { minLength: 1, maxLength: 11 },
);

Deno.test("few differences are tested exactly: the p-value is that of all sign patterns", async () => {
  await fc.assert(fc.asyncProperty(differences, async (values) => {
    assertAlmostEquals(await signFlip(values, options), everySign(values), 1e-12);
  }));
});

Deno.test("by hand: six differences on one side have p = 2/64, five can never reach 0.05", async () => {
  assertEquals(await signFlip([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], options), 2 / 64);
  assertEquals(await signFlip([0.1, 0.2, 0.3, 0.4, 0.5], options), 2 / 32);
});

Deno.test("a drawn sample comes close to the exact p-value", async () => {
  const few = [0.5, -0.2, 0.3, 0.1, 0.4, -0.1, 0.2, 0.6, 0.05];
  const many = [...few, ...new Array(20).fill(0)]; // zeros change nothing but the number of signs
  assertAlmostEquals(await signFlip(many, options), everySign(few), 0.01);
});

Deno.test("the same seed draws the same sample, another seed another", async () => {
  const values = Array.from({ length: 30 }, (_, index) => Math.sin(index) + 0.3);
  const first = await signFlip(values, options);
  assertEquals(await signFlip(values, options), first);
  assert(await signFlip(values, { ...options, seed: 2 }) !== first);
});

Deno.test("the event loop gets its turn while a sample is drawn", async () => {
  let pauses = 0;
  const values = Array.from({ length: 1000 }, (_, index) => Math.sin(index));
  await signFlip(values, { seed: 1, pause: () => Promise.resolve(void pauses++) });
  assert(pauses >= 20, `paused ${pauses} times`);
});
