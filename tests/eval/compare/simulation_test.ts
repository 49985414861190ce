import { assert } from "@std/assert";
import { compareRuns } from "../../../eval/compare/compare.ts";
import { createRandom } from "../../../eval/compare/random.ts";
import { recordedRun, type RecordedScenario } from "../../fakes/recorded_run.ts";

const COMPARISONS = 1000;

/** Numbers of a standard normal distribution, from a seed. */
function normals(seed: number): () => number {
  const random = createRandom(seed);
  const uniform = () => (random() + 0.5) / 2 ** 32;
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

interface Model {
  scenarios: number;
  attempts: number;
  /** The score of one attempt at a scenario of this difficulty. */
  score: (difficulty: number, noise: number) => number;
}

/** A run of a model on scenarios whose difficulties are given. */
function simulate(difficulties: number[], normal: () => number, model: Model): RecordedScenario[] {
  return difficulties.map((difficulty, index): RecordedScenario => {
    const attempts = Array.from(
      { length: model.attempts },
      () => model.score(difficulty, normal()),
    );
    return [`s${index}`, [["t", ...attempts]]];
  });
}

/** The shares of comparisons that end in a verdict, and whose interval holds the true difference. */
async function simulateMany(
  { baseline, candidate, difference }: { baseline: Model; candidate: Model; difference: number },
): Promise<{ verdicts: number; covered: number }> {
  let verdicts = 0;
  let covered = 0;
  for (let seed = 0; seed < COMPARISONS; seed++) {
    const normal = normals(seed);
    const difficulties = Array.from({ length: baseline.scenarios }, normal);
    const { verdict, scores } = await compareRuns({
      baseline: recordedRun(simulate(difficulties, normal, baseline)),
      candidate: recordedRun(simulate(difficulties, normal, candidate)),
    });
    const [low, high] = scores.overall!.ci95!;
    if (verdict !== "inconclusive") verdicts++;
    if (low <= difference && difference <= high) covered++;
  }
  return { verdicts: verdicts / COMPARISONS, covered: covered / COMPARISONS };
}

const gaussian = (difficulty: number, noise: number) => 0.5 + 0.1 * difficulty + 0.1 * noise;
/** Right or wrong, mostly right: the kind of score that is furthest from normal. */
const passing = (difficulty: number, noise: number) => 1.5 + difficulty + noise > 0 ? 1 : 0;

const alike: [string, Model, Model][] = [
  ...[8, 60].map((scenarios): [string, Model, Model] => {
    const model = { scenarios, attempts: 3, score: gaussian };
    return [`${scenarios} scenarios of a continuous score`, model, model];
  }),
  [
    "60 scenarios, ten attempts against one",
    { scenarios: 60, attempts: 10, score: passing },
    { scenarios: 60, attempts: 1, score: passing },
  ],
];

for (const [name, baseline, candidate] of alike) {
  Deno.test(`of 1,000 comparisons of a model with itself at most 7 % find anything: ${name}`, async () => {
    const { verdicts } = await simulateMany({ baseline, candidate, difference: 0 });
    assert(verdicts <= 0.07, `${(verdicts * 100).toFixed(1)} % found something`);
    assert(verdicts > 0, "a test that never speaks is no test");
  });
}

Deno.test("half a standard deviation over 60 scenarios is found in at least 80 % of comparisons, and the intervals hold it", async () => {
  // 0.1 × √2 is the standard deviation of a score and of the scenarios' differences alike.
  const difference = 0.5 * 0.1 * Math.SQRT2;
  const model = { scenarios: 60, attempts: 1, score: gaussian };
  const better = {
    ...model,
    score: (difficulty: number, noise: number) => gaussian(difficulty, noise) + difference,
  };
  const { verdicts, covered } = await simulateMany({
    baseline: model,
    candidate: better,
    difference,
  });
  assert(verdicts >= 0.8, `${(verdicts * 100).toFixed(1)} % found it`);
  assert(Math.abs(covered - 0.95) <= 0.02, `${(covered * 100).toFixed(1)} % of intervals hold it`);
});
