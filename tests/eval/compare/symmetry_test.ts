import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { compareRuns } from "../../../eval/compare/compare.ts";
import { recordedRun, type RecordedScenario } from "../../fakes/recorded_run.ts";

/** Batches in which ids repeat, turns fail, and some were never reached. */
const score = fc.oneof(
  fc.integer({ min: 0, max: 10 }).map((value) => value / 10),
  fc.constantFrom("failed" as const, "failed without scores" as const, undefined),
);
const turn = fc.tuple(fc.constantFrom("x", "y"), score, score)
  .map(([id, ...attempts]): RecordedScenario[1][number] => [id, ...attempts]);
const batch = fc.array(
  fc.tuple(fc.constantFrom("a", "b", "c"), fc.array(turn, { minLength: 1, maxLength: 3 }))
    .map(([id, turns]): RecordedScenario => [id, turns]),
  { minLength: 1, maxLength: 10 },
);

Deno.test("a run compared with itself differs nowhere, whatever it holds", async () => {
  await fc.assert(fc.asyncProperty(batch, async (scenarios) => {
    const comparison = await compareRuns({
      baseline: recordedRun(scenarios),
      candidate: recordedRun(scenarios),
    });
    assertEquals(comparison.verdict, "inconclusive");
    assertEquals(comparison.only_in_baseline, { scenarios: [], turns: [], scores: [] });
    assertEquals(comparison.only_in_candidate, { scenarios: [], turns: [], scores: [] });
    assertEquals(comparison.changed, []);
    for (const { difference, p } of Object.values(comparison.scores)) {
      assertEquals([difference, p], [0, 1]);
    }
  }));
});

Deno.test("runs that change places change the sign of the difference, and nothing else", async () => {
  await fc.assert(fc.asyncProperty(batch, batch, async (one, other) => {
    const there = await compareRuns({ baseline: recordedRun(one), candidate: recordedRun(other) });
    const back = await compareRuns({ baseline: recordedRun(other), candidate: recordedRun(one) });
    assertEquals(Object.keys(there.scores), Object.keys(back.scores));
    for (const [name, score] of Object.entries(there.scores)) {
      const mirrored = back.scores[name]!;
      assertAlmostEquals(score.difference!, -mirrored.difference!, 1e-12);
      assertEquals([score.p, score.scenarios, score.turns], [
        mirrored.p,
        mirrored.scenarios,
        mirrored.turns,
      ]);
      assert(score.ci95 === null || Math.abs(score.ci95[0] + mirrored.ci95![1]) < 1e-6);
    }
    assertEquals(
      there.only_in_baseline.scenarios.toSorted(),
      back.only_in_candidate.scenarios.toSorted(),
    );
    assertEquals(there.only_in_baseline.turns.length, back.only_in_candidate.turns.length);
  }));
});

Deno.test("a sample of permutations is the same whichever run is the baseline and however they are ordered", async () => {
  const run = (attempts: number, seed: number): RecordedScenario[] =>
    Array.from({ length: 20 }, (_, index) => [
      `s${index}`,
      [[
        "t",
        ...Array.from(
          { length: attempts },
          (_, attempt) => Math.abs(Math.sin(seed + 7 * index + attempt)),
        ),
      ]],
    ]);
  const [one, other] = [run(3, 1), run(2, 5).reverse()];
  const there = await compareRuns({ baseline: recordedRun(one), candidate: recordedRun(other) });
  const back = await compareRuns({ baseline: recordedRun(other), candidate: recordedRun(one) });
  assertEquals(there.scores.overall!.p, back.scores.overall!.p);
});
