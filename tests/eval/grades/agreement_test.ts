import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { describeAgreement, type GradedTurn } from "../../../eval/grades/agreement.ts";
import { meanDifference } from "../../../eval/grades/agreement.ts";
import { differenceInterval } from "../../../eval/results/mean_interval.ts";
import { bestThreshold, fitThreshold } from "../../../eval/grades/threshold.ts";
import { leastCoverage } from "../../fakes/least_coverage.ts";
import { createSampler } from "../../fakes/simulated_scores.ts";

const graded = (
  scenario: number,
  score: number | null,
  grades: Record<string, number>,
): GradedTurn => ({
  scenario,
  score,
  grades: Object.entries(grades).map(([author, value]) => ({ author, value, label: null })),
});

const options = { score: "judge", passThreshold: 0.7 };

Deno.test("the judge is held against the mean grade of each turn, with its bias by band", () => {
  const found = describeAgreement([
    graded(0, 0.9, { ann: 0.8, ben: 0.6 }),
    graded(1, 0.85, { ann: 0.7 }),
    graded(2, 0.3, { ann: 0.4, ben: 0.4 }),
    graded(3, null, { ann: 0.1 }),
  ], options);
  assertEquals([found.grades, found.graded_turns], [6, 4]);
  assertEquals(found.authors.map(({ author, grades }) => [author, grades]), [["ann", 4], [
    "ben",
    2,
  ]]);
  const { judge, people } = found;
  assertEquals([judge!.turns, judge!.missing], [3, 1]);
  assertAlmostEquals(judge!.mean_difference.mean, (0.2 + 0.15 - 0.1) / 3, 1e-12);
  assertEquals(judge!.bands.map(({ from, to, turns }) => [from, to, turns]), [[0.2, 0.4, 1], [
    0.8,
    1,
    2,
  ]]);
  assertAlmostEquals(judge!.bands[1]!.bias.mean, 0.175, 1e-12);
  assertEquals(people.turns, 2);
  assertEquals(people.pairs.map(({ authors, turns }) => [authors, turns]), [[["ann", "ben"], 2]]);
  assertAlmostEquals(people.pairs[0]!.mean_difference!.mean, 0.1, 1e-12);
});

Deno.test("labels agree or not as categories, and a turn without a label does not count", () => {
  const label = (...labels: (string | null)[]): GradedTurn => ({
    scenario: 0,
    score: null,
    grades: labels.map((label, index) => ({ author: `${index}`, value: 1, label })),
  });
  const same = [label("good", "good"), label("rude", "rude"), label("good", null)];
  assertEquals(describeAgreement(same, options).people.alpha_labels, 1);
  const apart = [label("good", "rude"), label("rude", "good")];
  assert(describeAgreement(apart, options).people.alpha_labels! < 0);
  assertEquals(describeAgreement([], options).judge, null);
});

Deno.test("the threshold that tells best what people pass is found, and agrees at least as well as any other", () => {
  const sampler = createSampler(2);
  const pairs = Array.from({ length: 200 }, () => {
    const people = sampler.uniform();
    return [Math.min(1, Math.max(0, people ** 2 + 0.1 * sampler.normal())), people] as const;
  });
  const best = bestThreshold(pairs, 0.7)!;
  assert(Math.abs(best.threshold - 0.49) < 0.1, `${best.threshold}`);
  for (let threshold = 0; threshold <= 1; threshold += 0.01) {
    const { agreement } = fitThreshold(pairs, { threshold, passFrom: 0.7 });
    assert(agreement <= best.agreement, `${threshold} agrees in ${agreement}`);
  }
});

Deno.test("thresholds at the ends, and one that is as good as the present one", () => {
  assertEquals(bestThreshold([], 0.7), null);
  assertEquals(bestThreshold([[0.2, 1], [0.9, 1]], 0.7)!.threshold, 0);
  // No threshold lies between scores that differ by rounding alone.
  assertEquals(bestThreshold([[0.3, 0], [0.1 + 0.2, 1]], 0.7)!.threshold, 0.7);
  assertEquals(bestThreshold([[0.2, 0], [0.8, 0]], 0.7)!.threshold, 0.9);
  assertEquals(bestThreshold([[0.2, 0], [0.9, 1]], 0.7), {
    threshold: 0.7,
    agreement: 1,
    kappa: 1,
  });
  assertEquals(fitThreshold([[0.2, 1], [0.9, 1]], { threshold: 0, passFrom: 0.7 }).kappa, null);
});

Deno.test("the best threshold is a short number that does what it says", () => {
  const pairs: [number, number][] = [[0.70312, 0], [0.70349, 1], [0.70351, 1], [0.9, 1]];
  const best = bestThreshold(pairs, 0.7)!;
  assertEquals([best.threshold, best.agreement], [0.7033, 1]);
  assertEquals(bestThreshold([[0.2, 0], [6 / 7, 0]], 0.7)!.threshold, 0.9);
});

Deno.test("the present threshold is the best one if none does better, also below all scores", () => {
  const scores = [0.8, 0.9, 1, 0.9, 0.8];
  for (const grades of [[0.8, 0.9, 1, 0.85, 0.75], [0.1, 0.9, 1, 0.85, 0.75]]) {
    const pairs = scores.map((score, index) => [score, grades[index]!] as const);
    assertEquals(bestThreshold(pairs, 0.7), fitThreshold(pairs, { threshold: 0.7, passFrom: 0.7 }));
  }
  const sampler = createSampler(3);
  const tenth = () => Math.round(10 * sampler.uniform()) / 10;
  for (let round = 0; round < 500; round++) {
    const pairs = Array.from({ length: 4 }, () => [tenth(), tenth()] as const);
    const passFrom = tenth();
    const best = bestThreshold(pairs, passFrom)!;
    const present = fitThreshold(pairs, { threshold: passFrom, passFrom });
    const isBetter = best.agreement > present.agreement;
    if (!isBetter) assertEquals(best, present, JSON.stringify({ pairs, passFrom }));
  }
  const nearly: [number, number][] = [[0.7 - 1e-13, 1], [0.9, 1]]; // passes at 0.7
  assertEquals(bestThreshold(nearly, 0.7)!.threshold, 0.7);
});

Deno.test("turns of one scenario are one piece of evidence in the interval of a difference", () => {
  const spread = [0.1, 0.2, 0.3, 0.4, 0.25];
  const apart = meanDifference(spread.map((value, scenario) => ({ scenario, value })))!;
  const doubled = meanDifference(
    spread.flatMap((value, scenario) => [{ scenario, value }, { scenario, value }]),
  )!;
  assertAlmostEquals(apart.mean, 0.25, 1e-12);
  assertEquals(apart.ci95, differenceInterval(spread));
  assertAlmostEquals(doubled.ci95![0], apart.ci95![0], 1e-12);
  assertEquals(meanDifference([{ scenario: 0, value: 0.5 }]), { mean: 0.5, ci95: null });
  assertEquals(meanDifference([]), null);
});

Deno.test("the interval covers every difference of passes and failures from people's", async () => {
  for (const size of [5, 8, 12]) {
    const covered = await leastCoverage(
      size,
      (values) => meanDifference(values.map((value, scenario) => ({ scenario, value })))!.ci95!,
    );
    assert(covered >= 0.93, `${size} scenarios: ${covered}`);
  }
});

Deno.test("a judge that agrees with people in five scenarios may still differ in the next one", () => {
  const same = meanDifference([0, 1, 2, 3, 4].map((scenario) => ({ scenario, value: 0 })))!;
  assertEquals(same.mean, 0);
  assertAlmostEquals(same.ci95![0], -0.522, 0.003); // 1 − 0.025 ** (1 / 5)
  assertAlmostEquals(same.ci95![1], 0.522, 0.003);
});
