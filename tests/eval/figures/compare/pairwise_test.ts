import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import type { JudgeQuestion } from "../../../../eval/score/judge_model.ts";
import { compareRuns } from "../../../../eval/figures/compare.ts";
import {
  type Attempts,
  permutationTest,
} from "../../../../eval/figures/compare/statistics/permutation.ts";
import { scenariosNeeded, stepOf } from "../../../../eval/figures/compare/statistics/planning.ts";
import { markdownForm } from "../../../../eval/report/formats/markdown.ts";
import { normalCdf, normalQuantile } from "../../../../eval/figures/summary/mean_interval.ts";
import { simulateGroups } from "../../../bench/trust/groups.ts";
import { batchFile, cliContext } from "../../../fakes/cli_context.ts";
import { providerError } from "../../../fakes/eval_ports.ts";
import { evalService } from "../../../fakes/eval_service.ts";
import {
  compare,
  graded,
  judge,
  meanings,
  type Result,
  run,
  turn,
} from "../../../fakes/judged_turns.ts";
import { recordedRun, type RecordedScenario } from "../../../fakes/recorded_run.ts";
import { fakeJudge, scoringPorts } from "../../../fakes/scoring_ports.ts";
import { createSampler, SCORE_KINDS } from "../../../fakes/simulated_scores.ts";
import { compareTwo, describeTwo } from "../../../fakes/compare_two.ts";

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
  return levels.map((level, run) => {
    const values = Array.from({ length: 12 }, (_, index): RecordedScenario => [
      `s${index}`,
      [["t", Math.min(1, Math.max(0, level + 0.05 * normal()))]],
    ]);
    return { name: `${run}`, open: () => recordedRun(values) };
  });
}

Deno.test("each pair is tested as two runs are, and p-values are corrected over all pairs", async () => {
  const runs = runsAt([0.5, 0.5, 0.8]);
  const { pairs, tests, decided_by, best } = await compareRuns(runs);
  assertEquals([pairs.length, tests, decided_by, best], [3, 3, "overall", ["2"]]);
  assertEquals(pairs.map(({ baseline, candidate }) => baseline + candidate), ["01", "02", "12"]);
  const alone = await compareTwo({ baseline: runs[0]!.open(), candidate: runs[2]!.open() });
  const { p, difference, ci95 } = pairs[1]!.scores.overall!;
  assertEquals(difference, alone.scores.overall!.difference);
  assertAlmostEquals(p!, 3 * alone.scores.overall!.p!, 1e-12);
  assert(ci95![0] < alone.scores.overall!.ci95![0] && alone.scores.overall!.ci95![1] < ci95![1]);
  assertEquals(pairs.map(({ verdict }) => verdict), ["inconclusive", "improved", "improved"]);
});

Deno.test("small runs are read once, large ones again for each pair, with the same result", async () => {
  const runs = runsAt([0.5, 0.6, 0.7, 0.8]);
  const compare = async (keptTurns?: number) => {
    const reads = [0, 0, 0, 0];
    const counted = runs.map(({ name, open }, index) => ({
      name,
      open() {
        reads[index]!++;
        return open();
      },
    }));
    const result = await compareRuns(counted, keptTurns === undefined ? {} : { keptTurns });
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
  const { pairs } = await compareRuns(
    runsAt([0.5, 0.5]).map(({ name, open }) => ({
      name,
      open: () => ({ ...open(), scenarios: open().scenarios.slice(0, 3) }),
    })),
  );
  assertEquals(
    pairs[0]!.reason,
    "too few scenarios: 3 of 3 differ, and the test needs 6 that do; it takes about 6 like these",
  );
});

Deno.test("a score that no run has is refused, and one model makes no pair", async () => {
  const error = await assertRejects(() => compareRuns(runsAt([0.5, 0.6]), { decideBy: "x" }));
  assertEquals((error as Error).message, "cannot decide by x: the scores of the runs are overall");
  assertEquals((await compareRuns(runsAt([0.5]))).pairs, []);
});

Deno.test("comparing six models of 300 scenarios gives way to other work in between", async () => {
  const { uniform } = createSampler(8);
  const runs = Array.from({ length: 6 }, (_, run) => {
    const values = Array.from({ length: 300 }, (_, index): RecordedScenario => [
      `s${index}`,
      [["t", uniform(), uniform()]],
    ]);
    return { name: `${run}`, open: () => recordedRun(values) };
  });
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await compareRuns(runs);
  clearInterval(timer);
  assert(turns > 10, `${turns} turns of the event loop`);
});

const target = ["--endpoint", "http://model.example/v1", "--model", "acme/model"];

/** The two replies as the judge sees them. */
function replies(question: JudgeQuestion): [first: string, second: string] {
  const text = question.messages.map(({ content }) => content).join("\n");
  const reply = (name: string) =>
    new RegExp(`<${name}[^>]*>\\s*([^<]*?)\\s*<`).exec(text)?.[1] ?? text;
  return [reply("first_reply"), reply("second_reply")];
}

/** Two runs of twelve scenarios, the second one with other replies, and a judge that compares. */
async function comparedBy(
  verdict: (question: JudgeQuestion) => string,
  answer: (question: string) => string = () => "new",
) {
  // This judge only compares.
  const { judge, asked } = fakeJudge((question) =>
    question.name === "preference" ? verdict(question) : "{}"
  );
  let reply: (question: string) => string = () => "old";
  const cli = cliContext({
    files: { "b.jsonl": batchFile(12) },
    answer: (asked) => reply(asked.at(-1)!.content),
    scoring: scoringPorts({ judge }),
  });
  await cli.run("run", "b.jsonl", ...target, "--threshold", "0");
  reply = answer;
  await cli.run("run", "b.jsonl", ...target, "--threshold", "0");
  const [candidate, baseline] = (await cli.store.listRuns({ limit: 2 })).runs.map(({ id }) => id);
  const compare = async (...options: string[]) =>
    await cli.run("compare", baseline!, candidate!, "--judge", ...options);
  const { out } = await compare("--json");
  const questions = () => asked.filter(({ name }) => name === "preference");
  return { preference: JSON.parse(out).preference, compare, questions, cli, judge };
}

Deno.test("a judge that prefers one run in both orders gives a verdict beside the score's", async () => {
  const { preference, compare, questions } = await comparedBy((question) =>
    JSON.stringify({ better: replies(question)[0] === "new" ? "first" : "second", reason: "so" })
  );
  assertEquals([preference.verdict, preference.candidate_better], ["improved", 12]);
  assertEquals(questions().length, 24, "each in both orders");
  assertEquals(preference.score.difference, 1);
  const { out } = await compare();
  assertStringIncludes(out, "prefers the candidate in 12 turns and the baseline in 0");
});

Deno.test("a judge that likes what comes first prefers nothing", async () => {
  const { preference } = await comparedBy(() => '{"better": "first", "reason": "so"}');
  assertEquals([preference.contradictory, preference.candidate_better], [12, 0]);
  assertEquals([preference.verdict, preference.score.difference], ["inconclusive", 0]);
});

Deno.test("ties are ties, also if only one order has one", async () => {
  let calls = 0;
  const { preference } = await comparedBy(() =>
    `{"better": "${calls++ % 2 ? "tie" : "first"}", "reason": "so"}`
  );
  assertEquals([preference.ties, preference.verdict], [12, "inconclusive"]);
});

Deno.test("verdicts that cannot be read are counted, and do not decide", async () => {
  const { preference } = await comparedBy((question) =>
    /question [0-5]\b/.test(JSON.stringify(question.messages))
      ? "the first, I think"
      : JSON.stringify({ better: replies(question)[0] === "new" ? "first" : "second" })
  );
  assertEquals(preference.missing, { judge_unreadable: 6 });
  assertEquals([preference.candidate_better, preference.verdict], [6, "improved"]);
  assertEquals(preference.score.missing, { baseline: 6, candidate: 6 });
});

Deno.test("a call without an answer loses, and the judge is not asked about it", async () => {
  const { preference, questions } = await comparedBy(
    () => '{"better": "tie", "reason": "so"}',
    (question) => {
      if (question === "question 3") throw providerError(500);
      return "new";
    },
  );
  assertEquals([preference.baseline_better, preference.ties], [1, 11]);
  assertEquals(questions().length, 22);
});

Deno.test("POST /compare answers the comparison with the preference, and needs a judge", async () => {
  const { cli, judge } = await comparedBy(() => '{"better": "tie", "reason": "so"}');
  const [candidate, baseline] = (await cli.store.listRuns({ limit: 2 })).runs.map(({ id }) => id);
  const ask = async (scoring = scoringPorts({ judge })) => {
    const { service } = evalService(undefined, { store: cli.store, scoring });
    const response = await service(
      new Request("http://127.0.0.1/compare", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ baseline, candidate }),
      }),
    );
    return { status: response.status, body: await response.json() };
  };
  const { status, body } = await ask();
  assertEquals([status, body.preference.ties, body.decided_by], [200, 12, "overall"]);
  assert(body.pairs[0].verdict !== undefined);
  assertEquals((await ask(scoringPorts())).status, 400);
  const deleting = fakeJudge(() => '{"better": "tie", "reason": "so"}');
  const { ask: answer } = deleting.judge;
  deleting.judge.ask = async (...question) => {
    await cli.store.deleteRun(baseline!);
    return await answer(...question);
  };
  const gone = await ask(scoringPorts({ judge: deleting.judge }));
  assertEquals([gone.status, gone.body.detail], [
    404,
    `run ${baseline} was deleted while it was read`,
  ]);
});

Deno.test("the normal distribution is that of the tables", () => {
  // Abramowitz and Stegun, table 26.1.
  assertAlmostEquals(normalCdf(1), 0.841344746068543, 1e-14);
  assertAlmostEquals(normalCdf(-2.5), 0.00620966532577613, 1e-14);
  assertAlmostEquals(normalQuantile(0.975), 1.959963984540054, 1e-12);
  assertAlmostEquals(normalQuantile(0.8), 0.8416212335729143, 1e-12);
});

Deno.test("for many scenarios the number is that of the textbook: ((z of α/2 + z of power) σ / δ)²", () => {
  const needed = scenariosNeeded({ difference: 0.02, stdev: 0.2, alpha: 0.05 })!;
  const textbook = ((1.96 + 0.8416) * 0.2 / 0.02) ** 2;
  assert(Math.abs(needed / textbook - 1) < 0.01, `${needed}, not ${textbook}`);
  assertEquals(scenariosNeeded({ difference: 0, stdev: 0.2, alpha: 0.05 }), null);
  assertEquals(scenariosNeeded({ difference: 0.1, stdev: 0, alpha: 0.05 }), 6);
});

Deno.test("a difference that a billion scenarios do not show has no plan", () => {
  const most = scenariosNeeded({ difference: 1e-4, stdev: 1, alpha: 0.05 })!;
  assert(most > 7.8e8 && most < 7.9e8, `${most}`);
  for (const difference of [1e-5, 1e-8, 1e-300]) {
    assertEquals(
      scenariosNeeded({ difference, stdev: 1, alpha: 0.05 }),
      null,
      `${difference}`,
    );
  }
});

/** The mean, the spread and the step of the differences of scenarios. */
function describeDifferences(scenarios: Attempts[]) {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const differences = scenarios.map((own) => mean(own.candidate) - mean(own.baseline));
  const difference = mean(differences);
  const stdev = Math.sqrt(mean(differences.map((value) => (value - difference) ** 2)));
  return { difference, stdev, step: stepOf(differences) };
}

/** Shapes of scores, and how much better the candidate is. */
const SHAPES: [kind: string, better: number, attempts: number][] = [
  ["continuous", 0.06, 1],
  ["continuous", 0.06, 3],
  ["skewed", -0.05, 1],
  ["rare misses", -0.25, 1],
  ["rare misses", -0.25, 3],
  ["ordinal", -0.15, 1],
  ["ties", -0.2, 3],
  ["failures", 0.2, 1],
];
const PLANNED_RUNS = 300;
/** Three standard errors. */
const TOLERANCE = 3 * Math.sqrt(0.8 * 0.2 / PLANNED_RUNS);

for (const [kind, better, attempts] of SHAPES) {
  Deno.test(`so many scenarios as planned show the difference in about 80 % of comparisons: ${kind}, ${attempts} attempts`, async () => {
    const sampler = createSampler(11);
    const draw = (): Attempts => {
      const attempt = SCORE_KINDS[kind]!(sampler, { noise: 1 });
      return {
        baseline: Array.from({ length: attempts }, () => attempt()),
        candidate: Array.from({ length: attempts }, () => attempt(better)),
      };
    };
    const drawn = Array.from({ length: 40_000 }, draw);
    const { difference, stdev, step } = describeDifferences(drawn);
    const needed = scenariosNeeded({ difference, stdev, alpha: 0.05, step })!;
    let found = 0;
    for (let round = 0; round < PLANNED_RUNS; round++) {
      const scenarios = Array.from({ length: needed }, draw);
      const options = { seed: round, pause: () => Promise.resolve(), draws: 400 };
      if (await permutationTest(scenarios, options) < 0.05) found++;
    }
    const power = found / PLANNED_RUNS;
    assert(Math.abs(power - 0.8) <= TOLERANCE, `${power} with ${needed} scenarios`);
  });
}

Deno.test("meanings by two methods are not compared, and it is said", async () => {
  const local = meanings.map((meaning) => turn(meaning, { grade: 0.4 }));
  const endpoint = meanings.map((meaning) =>
    turn(meaning - 0.3, { grade: 0.4, method: "text-embedding-3" })
  );
  const comparison = await compare(run(local), run(endpoint));
  assertEquals(Object.keys(comparison.scores), ["overall", "judge"]);
  assertEquals(comparison.verdict, "inconclusive");
  assertEquals(comparison.left_out, [{
    score: "semantic_similarity",
    turns: 12,
    reason: "other_method",
    detail: "use+stems / text-embedding-3",
  }]);
  const text = describeTwo(comparison, markdownForm);
  assertStringIncludes(
    text,
    "Not compared: `semantic_similarity` at 12 turns, the runs computed it by different methods " +
      "(`use+stems / text-embedding-3`)",
  );
});

Deno.test("an attempt by another method than the others is not mixed in", async () => {
  const attempts = (...results: Result[]): RecordedScenario[] => [["s", [["t", ...results]]]];
  const { scores } = await compare(
    attempts(turn(0.8), turn(0.8), turn(0.1, { method: "char_tfidf" })),
    attempts(turn(0.8), turn(0.8), turn(0.8)),
  );
  assertAlmostEquals(scores.semantic_similarity!.baseline, 0.8);
});

Deno.test("grades by two judges, or by two rubrics, are not compared", async () => {
  const other = graded.map((result) => ({ ...result, judge: judge(0.4, "judge-2") }));
  assertEquals((await compare(run(graded), run(other))).left_out[0]!.reason, "other_method");
  const { left_out } = await compareTwo({
    baseline: { ...recordedRun(run(graded)), rubric: "Be polite." },
    candidate: { ...recordedRun(run(graded)), rubric: "Be short." },
  });
  assertEquals(left_out.map(({ score, reason }) => [score, reason]), [["judge", "other_method"]]);
});

Deno.test("checks and labels that two judges decided, or two endpoints, are not compared", async () => {
  const labelled = (method: string): Result => ({
    scores: { intent_match: 1, metadata_match: 1 },
    reference_metadata: { intent: "greet" },
    annotation: { method, confidence: 1, keys: { intent: { method, confidence: 1 } } },
  });
  const checked = (type: string): Result => ({
    scores: { checks: 1 },
    check_results: [{ name: "c", type, value: 1, weight: 1, required: false }],
  });
  const one = { judge: "judge-1", embeddings: "endpoint_embeddings:e1" };
  const cases: [result: Result, other: typeof one, leftOut: string[]][] = [
    [checked("judge"), { ...one, judge: "judge-2" }, ["checks"]],
    [checked("judge"), { ...one, embeddings: "e2" }, []],
    [checked("similar"), { ...one, embeddings: "e2" }, ["checks"]],
    [checked("contains"), { judge: "judge-2", embeddings: "e2" }, []],
    [labelled("judge"), { ...one, judge: "judge-2" }, ["intent_match", "metadata_match"]],
    [labelled("few_shot"), { ...one, embeddings: "e2" }, ["intent_match", "metadata_match"]],
  ];
  for (const [result, scoredBy, expected] of cases) {
    const { left_out } = await compareTwo({
      baseline: { ...recordedRun(run([result])), scoredBy: one },
      candidate: { ...recordedRun(run([result])), scoredBy },
    });
    assertEquals(left_out.map(({ score }) => score).sort(), expected);
  }
});

Deno.test("an empty reply counts by whatever method: a model that falls silent regresses", async () => {
  const silent = meanings.map(() => turn(0, { method: "empty" }));
  const { verdict } = await compare(run(meanings.map((meaning) => turn(meaning))), run(silent));
  assertEquals(verdict, "regressed");
});

Deno.test("a reply with the reference's text counts by whatever method its label is read", async () => {
  const labelled = (match: number, method: string): Result => ({
    scores: { intent_match: match, metadata_match: match, overall: match },
    reference_metadata: { intent: "greet" },
    annotation: { method, confidence: 1, keys: { intent: { method, confidence: 1 } } },
  });
  const attempts = (...results: Result[]): RecordedScenario[] => [["s", [["t", ...results]]]];
  const { scores, left_out } = await compare(
    attempts(labelled(0, "judge"), labelled(1, "judge")),
    attempts(labelled(0, "judge"), labelled(1, "same_text"), labelled(1, "same_text")),
  );
  assertEquals(left_out, []);
  for (const score of ["intent_match", "metadata_match", "overall"]) {
    assertEquals(scores[score]!.baseline, 0.5);
    assertAlmostEquals(scores[score]!.candidate!, 2 / 3);
    assertEquals(scores[score]!.missing, undefined);
  }
});

Deno.test("equal enough holds among several models, too: at the level of all pairs", async () => {
  const many = Array.from({ length: 60 }, (_, index) => `s${index}`);
  const runs = ["a", "b", "c", "d"].map((name) => ({
    name,
    open: () => recordedRun(many.map((id) => [id, [["t", 0.5]]])),
  }));
  const verdictsOf = async (count: number) => {
    const { pairs } = await compareRuns(runs.slice(0, count), { minDifference: 0.07 });
    for (const { verdict, scores } of pairs) {
      assertEquals(verdict === "equal_enough", scores.overall!.ci95![0] > -0.07);
    }
    return new Set(pairs.map(({ verdict }) => verdict));
  };
  assertEquals(await verdictsOf(2), new Set(["equal_enough"]));
  assertEquals(await verdictsOf(4), new Set(["inconclusive"]));
});
