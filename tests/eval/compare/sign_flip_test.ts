import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { createRandom } from "../../../eval/compare/random.ts";
import { signFlip } from "../../../eval/compare/sign_flip.ts";
import { ALPHA } from "../../../eval/compare/spans.ts";

const options = { seed: 1, pause: () => Promise.resolve() };

/** The definition, tried on every one of the 2^n ways to choose signs. */
function everySign(differences: number[], shift = 0): number {
  const shifted = differences.map((difference) => difference - shift);
  const real = Math.abs(shifted.reduce((sum, value) => sum + value, 0));
  let asFar = 0;
  for (let mask = 0; mask < 2 ** shifted.length; mask++) {
    const sum = shifted.reduce((sum, value, bit) => sum + (mask >> bit & 1 ? -value : value), 0);
    if (Math.abs(sum) >= real - 1e-12) asFar++;
  }
  return asFar / 2 ** shifted.length;
}

const differences = fc.array(
  fc.integer({ min: -20, max: 20 }).map((value) => value / 20),
  { minLength: 1, maxLength: 11 },
);

Deno.test("few differences are tested exactly: the p-value is that of all sign patterns", async () => {
  await fc.assert(fc.asyncProperty(differences, async (values) => {
    const { p, isExact } = await signFlip(values, options);
    assert(isExact);
    assertAlmostEquals(p, everySign(values), 1e-12);
  }));
});

Deno.test("the interval is the shifts that the same test does not reject", async () => {
  await fc.assert(fc.asyncProperty(differences, async (values) => {
    const { interval } = await signFlip(values, options);
    if (!interval) return assert(2 ** (1 - values.length) > ALPHA);
    for (const [end, outwards] of [[interval[0], -1], [interval[1], 1]] as const) {
      assert(everySign(values, end) > ALPHA, "an end belongs to the interval");
      assert(everySign(values, end + outwards * 1e-6) <= ALPHA, "what is beyond it does not");
    }
  }));
});

Deno.test("a difference is significant exactly when its interval leaves 0 out", async () => {
  const random = createRandom(7);
  for (let round = 0; round < 60; round++) {
    const values = Array.from({ length: 40 }, () => random() / 2 ** 32 - 0.4);
    const { p, interval } = await signFlip(values, { ...options, seed: round });
    assertEquals(p <= ALPHA, interval![0] > 0 || interval![1] < 0, `round ${round}`);
  }
});

Deno.test("by hand: six differences on one side have p = 2/64, five can never reach 0.05", async () => {
  const six = await signFlip([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], options);
  assertEquals(six.p, 2 / 64);
  const five = await signFlip([0.1, 0.2, 0.3, 0.4, 0.5], options);
  assertEquals(five.p, 2 / 32);
  assertEquals(five.interval, null);
});

Deno.test("a drawn sample comes close to the exact p-value", async () => {
  const few = [0.5, -0.2, 0.3, 0.1, 0.4, -0.1, 0.2, 0.6, 0.05];
  const many = [...few, ...new Array(20).fill(0)]; // zeros change nothing but the number of signs
  const drawn = await signFlip(many, options);
  assertEquals(drawn.isExact, false);
  assertAlmostEquals(drawn.p, everySign(few), 0.01);
});

Deno.test("a drawn interval agrees with Student's t if the differences are normal", async () => {
  const random = createRandom(3);
  const uniform = () => (random() + 0.5) / 2 ** 32;
  const values = Array.from({ length: 200 }, () => {
    return 0.1 + 0.3 * Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  });
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 199;
  const half = 1.972 * Math.sqrt(variance / 200);
  const { interval } = await signFlip(values, options);
  assertAlmostEquals(interval![0], mean - half, 0.05 * half);
  assertAlmostEquals(interval![1], mean + half, 0.05 * half);
});

Deno.test("the same seed draws the same sample, another seed another", async () => {
  const values = Array.from({ length: 30 }, (_, index) => Math.sin(index) + 0.3);
  const first = await signFlip(values, options);
  assertEquals(await signFlip(values, options), first);
  assert((await signFlip(values, { ...options, seed: 2 })).p !== first.p);
});

Deno.test("the event loop gets its turn while a sample is drawn", async () => {
  let pauses = 0;
  const values = Array.from({ length: 1000 }, (_, index) => Math.sin(index));
  await signFlip(values, { seed: 1, pause: () => Promise.resolve(void pauses++) });
  assert(pauses >= 20, `paused ${pauses} times`);
});
