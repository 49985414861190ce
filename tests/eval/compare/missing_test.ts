import { assert, assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import { compareRuns } from "../../../eval/compare/compare.ts";
import { describeComparison } from "../../../eval/export/text/comparison_text.ts";
import { markdownForm } from "../../../eval/export/formats/markdown.ts";
import { compare, graded, meanings, type Result, run, turn } from "../../fakes/judged_turns.ts";
import { recordedRun } from "../../fakes/recorded_run.ts";

for (const isOld of [false, true]) {
  const release = isOld ? "before missing scores were recorded" : "as recorded now";
  const outages: [what: string, turns: Result[]][] = [
    ["for all", meanings.map((meaning) => turn(meaning, { grade: null, isOld }))],
    [
      "for every second",
      meanings.map((meaning, index) => turn(meaning, { grade: index % 2 ? null : 0.4, isOld })),
    ],
    ["because there is none", meanings.map((meaning) => turn(meaning))],
  ];
  for (const [what, turns] of outages) {
    Deno.test(`the same replies are never better or worse if the judge fails ${what}, ${release}`, async () => {
      for (const [one, other] of [[graded, turns], [turns, graded]] as const) {
        const comparison = await compare(run(one), run(other));
        assertEquals(comparison.verdict, "inconclusive");
        const { difference, bounds } = comparison.scores.overall!;
        assert(difference === 0 || (bounds!.difference[0] <= 0 && bounds!.difference[1] >= 0));
        assert(comparison.left_out.some(({ score }) => score === "judge"));
      }
    });
  }
}

Deno.test("what was left out is listed with the number of turns and the reason", async () => {
  const failing = meanings.map((meaning, index) =>
    turn(meaning, { grade: index < 5 ? null : 0.4 })
  );
  const down = await compare(run(graded), run(failing));
  assertEquals(down.left_out, [
    { score: "judge", turns: 5, reason: "missing_in_candidate", detail: null },
  ]);
  assertEquals(down.scores.overall!.missing, { baseline: 0, candidate: 5 });
  const [low, high] = down.scores.judge!.bounds!.candidate;
  assertAlmostEquals(low, 7 * 0.4 / 12);
  assertAlmostEquals(high, (7 * 0.4 + 5) / 12);
  const off = await compare(run(meanings.map((meaning) => turn(meaning))), run(graded));
  assertEquals(off.left_out, [
    { score: "judge", turns: 12, reason: "not_in_baseline", detail: null },
  ]);
  assertEquals(off.scores.overall!.bounds, undefined);
  assertEquals(off.notes.map(({ code }) => code), ["overall_reduced"]);
});

Deno.test("a mean whose only common part is missing in one run is not called missing in both", async () => {
  const labelled = (match: number | null): Result => ({
    scores: { intent_match: match, metadata_match: match, overall: match },
    reference_metadata: { intent: "greet" },
    annotation: {
      method: "judge",
      confidence: null,
      keys: { intent: { method: "judge", confidence: null } },
    },
    ...(match === null && {
      missing_scores: { intent_match: "x", metadata_match: "intent: x", overall: "x" },
    }),
  });
  const [told, untold] = [1, null].map((match) => run(meanings.map(() => labelled(match))));
  const cases = [[told, untold, "candidate"], [untold, told, "baseline"]] as const;
  for (const [baseline, candidate, side] of cases) {
    const { left_out } = await compare(baseline!, candidate!);
    assertEquals(
      left_out.map(({ score, turns, reason }) => [score, turns, reason]),
      ["intent_match", "metadata_match", "overall"].map((name) => [
        name,
        12,
        `missing_in_${side}`,
      ]),
    );
  }
});

Deno.test("a real regression is found although a few verdicts are missing", async () => {
  const good = Array.from({ length: 20 }, (_, index) => turn(0.8, { grade: 0.8 + index / 100 }));
  const bad = Array.from(
    { length: 20 },
    (_, index) => turn(0.8, { grade: index < 2 ? null : 0.3 + index / 100 }),
  );
  const { verdict, scores } = await compare(run(good), run(bad));
  assertEquals(verdict, "regressed");
  const { difference, bounds, ci95 } = scores.overall!;
  const [low, high] = bounds!.difference;
  assertEquals(difference, null);
  assert(low < high && high < 0);
  assert(ci95![0] < low && high < ci95![1] && ci95![1] < 0, "the interval covers the bounds");
});

Deno.test("a verdict that the missing values could change is none, and the reason says so", async () => {
  const good = Array.from({ length: 20 }, (_, index) => turn(0.8, { grade: 0.7 + index / 100 }));
  const bad = Array.from(
    { length: 20 },
    (_, index) => turn(0.8, { grade: index < 8 ? null : 0.5 + index / 100 }),
  );
  const comparison = await compareRuns(
    { baseline: recordedRun(run(good)), candidate: recordedRun(run(bad)) },
    { decideBy: "judge" },
  );
  assertEquals(comparison.verdict, "inconclusive");
  assertEquals(
    comparison.reason,
    "values of judge are missing (0 in the baseline, 8 in the candidate), and it depends on them",
  );
  const text = describeComparison({ baseline: "b", result: comparison }, markdownForm);
  assertStringIncludes(
    text,
    "`judge` is missing in 0 turns of the baseline and 8 of the candidate",
  );
});

Deno.test("missing labels do not raise the match of the others", async () => {
  const labelled = (intent: number | null, sentiment: number): Result => ({
    scores: {
      intent_match: intent,
      sentiment_match: sentiment,
      // As earlier versions recorded it: the mean of the labels that were told.
      metadata_match: intent === null ? sentiment : (intent + sentiment) / 2,
      overall: intent === null ? sentiment : (intent + sentiment) / 2,
    },
    reference_metadata: { intent: "greet", sentiment: "positive" },
    annotation: {
      method: "few_shot+words",
      confidence: 0.5,
      keys: {
        intent: { method: "few_shot", confidence: 0.5 },
        sentiment: { method: "words", confidence: 0.5 },
      },
    },
  });
  const told = meanings.map(() => labelled(0, 1));
  const abstained = meanings.map(() => labelled(null, 1));
  const comparison = await compare(run(told), run(abstained));
  assertEquals(comparison.verdict, "inconclusive");
  const { baseline, candidate } = comparison.scores.metadata_match!.bounds!;
  assertEquals([baseline, candidate], [[0.5, 0.5], [0.5, 1]]);
  assertEquals(comparison.left_out, [
    { score: "intent_match", turns: 12, reason: "missing_in_candidate", detail: null },
  ]);
});

Deno.test("a key that counts in one run only is no part of the match", async () => {
  const result = (counts: boolean): Result => ({
    scores: {
      intent_match: counts ? 0 : null,
      tone_match: 1,
      metadata_match: counts ? 0.5 : 1,
      overall: counts ? 0.5 : 1,
    },
    reference_metadata: { intent: "greet", tone: "warm" },
    annotation: {
      method: "few_shot",
      confidence: 0.5,
      keys: {
        intent: { method: "few_shot", confidence: null, ...(!counts && { counts: false }) },
        tone: { method: "few_shot", confidence: 0.5 },
      },
    },
  });
  const comparison = await compare(
    run(meanings.map(() => result(true))),
    run(meanings.map(() => result(false))),
  );
  assertEquals(comparison.scores.overall!.difference, 0);
  assertEquals(comparison.left_out[0]!.reason, "not_in_candidate");
});

Deno.test("failed calls count 0 in overall also if the other run lacks a part", async () => {
  const failed: Result = {
    scores: { semantic_similarity: 0, metadata_match: null, judge: 0, overall: 0 },
    error: { code: "provider_error", status: 500, detail: "" },
  };
  const { scores, verdict_as_counted } = await compare(
    run(graded),
    run(meanings.map(() => failed)),
  );
  assertEquals([scores.overall!.candidate, verdict_as_counted], [0, "regressed"]);
});
