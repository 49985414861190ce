import { assert, assertAlmostEquals, assertEquals, assertRejects } from "@std/assert";
import { compareRuns } from "../../../eval/compare/compare.ts";
import { comparePairwise } from "../../../eval/compare/pairwise.ts";
import { simulateGroups } from "../../bench/trust/groups.ts";
import { recordedRun, type RecordedScenario } from "../../fakes/recorded_run.ts";
import { createSampler } from "../../fakes/simulated_scores.ts";

/** `deno task bench trust` goes through the whole grid with 500 groups each. */
const SIMULATIONS = 80;
/** Three standard errors above 5 %. */
const HIGHEST = 0.05 + 3 * Math.sqrt(0.05 * 0.95 / SIMULATIONS);

for (const [kind, attempts] of [["continuous", 1], ["rare misses", 3]] as [string, number][]) {
  Deno.test(`five equal models have a false verdict in at most 5 % of groups: ${kind}`, async () => {
    const cell = { kind, models: 5, scenarios: 10, attempts, better: 0 };
    const { found } = await simulateGroups(cell, { simulations: SIMULATIONS, seed: 3 });
    assert(found <= HIGHEST, `${(found * 100).toFixed(1)} % found something`);
  });
}

Deno.test("without the correction equal models would seem to differ in far more groups", async () => {
  const cell = { kind: "continuous", models: 5, scenarios: 10, attempts: 1, better: 0 };
  const { found, foundUncorrected } = await simulateGroups(cell, { simulations: 60, seed: 4 });
  assert(foundUncorrected > 0.15 && found < foundUncorrected, `${foundUncorrected}`);
});

Deno.test("a model that is better is found among five", async () => {
  const cell = { kind: "continuous", models: 5, scenarios: 14, attempts: 3, better: 0.15 };
  const { found } = await simulateGroups(cell, { simulations: 10, seed: 5 });
  assert(found >= 0.9, `${found}`);
});

/** Runs of 12 scenarios around a level each. */
function runsAt(levels: number[]) {
  const { normal } = createSampler(7);
  return levels.map((level) => {
    const values = Array.from({ length: 12 }, (_, index): RecordedScenario => [
      `s${index}`,
      [["t", Math.min(1, Math.max(0, level + 0.05 * normal()))]],
    ]);
    return () => recordedRun(values);
  });
}

Deno.test("each pair is tested as two runs are, and p-values are corrected over all pairs", async () => {
  const runs = runsAt([0.5, 0.5, 0.8]);
  const { pairs, tests, decidedBy } = await comparePairwise(runs);
  assertEquals([pairs.length, tests, decidedBy], [3, 3, "overall"]);
  assertEquals(pairs.map(({ baseline, candidate }) => [baseline, candidate]), [[0, 1], [0, 2], [
    1,
    2,
  ]]);
  const alone = await compareRuns({ baseline: runs[0]!(), candidate: runs[2]!() });
  const { p, difference, ci95 } = pairs[1]!.score!;
  assertEquals(difference, alone.scores.overall!.difference);
  assertAlmostEquals(p!, 3 * alone.scores.overall!.p!, 1e-12);
  assert(ci95![0] < alone.scores.overall!.ci95![0] && alone.scores.overall!.ci95![1] < ci95![1]);
  assertEquals(pairs.map(({ verdict }) => verdict), ["inconclusive", "improved", "improved"]);
});

Deno.test("small runs are read once, large ones again for each pair, with the same result", async () => {
  const runs = runsAt([0.5, 0.6, 0.7, 0.8]);
  const compare = async (keptTurns?: number) => {
    const reads = [0, 0, 0, 0];
    const counted = runs.map((open, index) => () => {
      reads[index]!++;
      return open();
    });
    const result = await comparePairwise(counted, keptTurns === undefined ? {} : { keptTurns });
    return { reads, result };
  };
  const small = await compare();
  assertEquals(small.reads, [1, 1, 1, 1]);
  const mixed = await compare(25); // two runs of twelve turns
  assertEquals(mixed.reads, [1, 1, 3, 3]);
  assertEquals((await compare(0)).reads, [1, 2, 3, 3]);
  assertEquals(mixed.result, small.result);
});

Deno.test("a reason says how many scenarios the test needs", async () => {
  const { pairs } = await comparePairwise(
    runsAt([0.5, 0.5]).map((open) => () => ({
      ...open(),
      scenarios: open().scenarios.slice(0, 3),
    })),
  );
  assertEquals(pairs[0]!.reason, "only 3 scenarios differ: the test needs at least 6");
});

Deno.test("a score that no run has is refused, and one model makes no pair", async () => {
  const error = await assertRejects(() => comparePairwise(runsAt([0.5, 0.6]), { decideBy: "x" }));
  assertEquals((error as Error).message, "cannot decide by x: the scores of the runs are overall");
  assertEquals((await comparePairwise(runsAt([0.5]))).pairs, []);
});

Deno.test("comparing six models of 300 scenarios gives way to other work in between", async () => {
  const { uniform } = createSampler(8);
  const runs = Array.from({ length: 6 }, () => {
    const values = Array.from({ length: 300 }, (_, index): RecordedScenario => [
      `s${index}`,
      [["t", uniform(), uniform()]],
    ]);
    return () => recordedRun(values);
  });
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await comparePairwise(runs);
  clearInterval(timer);
  assert(turns > 10, `${turns} turns of the event loop`);
});
