import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { type ComparedTurn, readScores } from "../../../../eval/figures/turn_scores.ts";
import { isRegression } from "../../../../eval/figures/verdict.ts";
import { markdownForm } from "../../../../eval/report/formats/markdown.ts";
import { AppError } from "../../../../shared/service/errors.ts";
import { interaction, scenario } from "../../../fakes/eval_ports.ts";
import { compare, graded, meanings, type Result, run, turn } from "../../../fakes/judged_turns.ts";
import {
  recordedRun,
  type RecordedScenario,
  type RecordedScore,
} from "../../../fakes/recorded_run.ts";
import { compareTwo, describeTwo } from "../../../fakes/compare_two.ts";

const compareRecorded = (baseline: RecordedScenario[], candidate: RecordedScenario[]) =>
  compareTwo({ baseline: recordedRun(baseline), candidate: recordedRun(candidate) });

/** One turn per scenario, one attempt. */
const plain = (values: number[]): RecordedScenario[] =>
  values.map((value, index) => [`s${index}`, [["t", value]]]);

Deno.test("a score has both means, their difference, its interval and a verdict", async () => {
  const baseline = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
  const { scores, verdict, reason, decided_by } = await compareRecorded(
    plain(baseline),
    plain(baseline.map((value) => value + 0.1)),
  );
  const { overall } = scores;
  assertAlmostEquals(overall!.baseline!, 0.45);
  assertAlmostEquals(overall!.candidate!, 0.55);
  assertAlmostEquals(overall!.difference!, 0.1);
  assert(overall!.ci95![0] > 0 && overall!.ci95![1] > 0.1);
  assertEquals(overall!.p, 2 / 256);
  assertEquals([verdict, reason, decided_by], ["improved", null, "overall"]);
});

Deno.test("the same the other way round is a regression", async () => {
  const values = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
  const { verdict } = await compareRecorded(
    plain(values.map((value) => value + 0.1)),
    plain(values),
  );
  assertEquals(verdict, "regressed");
});

Deno.test("a verdict has its size beside it, and differences that do not matter are equal enough", async () => {
  const values = Array.from({ length: 60 }, (_, index) => 0.2 + index / 100);
  const runs = (better: number) => ({
    baseline: recordedRun(plain(values)),
    candidate: recordedRun(plain(values.map((value) => value + better))),
  });
  const titleOf = async (better: number, minDifference?: number) => {
    const result = await compareTwo(runs(better), { minDifference });
    const [title] = describeTwo(result, markdownForm).trim().split("\n");
    return [result.verdict, title!.replace(/.*: /, "")];
  };
  const [tiny, title] = await titleOf(0.008);
  assertEquals(tiny, "improved");
  assertMatch(title!, /^overall improved \(\+0\.008, 95 % \+0\.\d+ … \+0\.\d+\)$/);
  const [equal, named] = await titleOf(0.008, 0.1);
  assertEquals(equal, "equal_enough");
  assertMatch(named!, /^overall equal enough \(\+0\.008, .*\), where less than 0\.1 is equal$/);
  assertEquals((await titleOf(-0.008, 0.1))[0], "equal_enough", "worse, but not by as much");
  assertEquals((await titleOf(-0.2, 0.1))[0], "regressed");
  assertEquals((await titleOf(0.2, 0.1))[0], "improved");
  const { verdict, reason } = await compareTwo(runs(0), { minDifference: 0.05 });
  assertEquals(verdict, "inconclusive", "60 scenarios do not show so little");
  assertEquals(
    reason,
    "no scenario differs; nor is it shown that it is not worse by 0.05: " +
      "the interval begins at -0.060; about 120 scenarios would",
  );
});

Deno.test("an inconclusive verdict says how many scenarios would show the difference", async () => {
  const better = [0.3, -0.1, 0.2, -0.05, 0.15, 0.1, -0.2, 0.25];
  const { verdict, reason } = await compareRecorded(
    plain(better.map(() => 0.5)),
    plain(better.map((value) => 0.5 + value)),
  );
  assertEquals(verdict, "inconclusive");
  assertMatch(reason!, /^too few scenarios \(8\): .*; it takes about \d\d like these$/);
});

Deno.test("a comparison says if one run has more replies that end at the token limit", async () => {
  const cut = (count: number) =>
    recordedRun(
      run(meanings.map((meaning, index) => ({
        ...turn(meaning),
        ...(index < count && { truncated: true as const }),
      }))),
    );
  const notesOf = async (before: number, now: number) =>
    (await compareTwo({ baseline: cut(before), candidate: cut(now) })).notes
      .filter(({ code }) => code === "truncated").map(({ detail }) => detail);
  assertEquals(await notesOf(2, 2), []);
  assertStringIncludes((await notesOf(1, 4))[0]!, "1 reply of the baseline and 4 of the candidate");
});

Deno.test("many attempts of one scenario are no evidence about scenarios, and the reason says so", async () => {
  const attempts = (value: number) => new Array<number>(100).fill(value);
  const { scores, verdict, reason } = await compareRecorded(
    [["only", [["t", ...attempts(0.1)]]]],
    [["only", [["t", ...attempts(0.9)]]]],
  );
  assertAlmostEquals(scores.overall!.difference!, 0.8);
  assertEquals(scores.overall!.ci95, null);
  assertEquals(scores.overall!.ci95_reason, "1 scenario: an interval needs 5");
  assertEquals(verdict, "inconclusive");
  assertEquals(
    reason,
    "too few scenarios: 1 of 1 differs, and the test needs 6 that do; it takes about 6 like these",
  );
});

Deno.test("a failed turn counts 0 in every score that the other run has there", async () => {
  const baseline: RecordedScenario[] = [["s", [["t", 0.8, 0.8]]]];
  const half = await compareRecorded(baseline, [["s", [["t", 0.8, "failed"]]]]);
  assertAlmostEquals(half.scores.overall!.candidate!, 0.4);
  const silent = await compareRecorded(baseline, [["s", [["t", 0.8, "failed without scores"]]]]);
  assertAlmostEquals(silent.scores.overall!.candidate!, 0.4);
  const dead = await compareRecorded([["s", [["t", 0.8], ["u", 0.6]]]], [
    ["s", [["t", "failed without scores"], ["u", 0.6]]],
  ]);
  assertAlmostEquals(dead.scores.overall!.candidate!, 0.3);
});

Deno.test("runs of unequal attempts are compared by the mean of each turn", async () => {
  const { scores } = await compareRecorded([["s", [["t", 0.2, 0.4, 0.6]]]], [["s", [["t", 0.5]]]]);
  assertAlmostEquals(scores.overall!.baseline!, 0.4);
  assertAlmostEquals(scores.overall!.candidate!, 0.5);
});

Deno.test("an attempt counts as one conversation, also if it has many turns", async () => {
  const conversation = (values: number[][]): RecordedScenario[] =>
    Array.from({ length: 8 }, (_, index) => [
      `s${index}`,
      values.map((attempts, turn) => [`t${turn}`, ...attempts]),
    ]);
  // Ten attempts of two turns against one: six scenarios' worth of rare misses is still no evidence.
  const often = [1, 1, 1, 1, 1, 1, 1, 1, 1, 0];
  const { scores, reason } = await compareRecorded(
    conversation([often, often]),
    conversation([[1], [1]]),
  );
  assertAlmostEquals(scores.overall!.difference!, 0.1);
  assertEquals(scores.overall!.turns, 16);
  assert(scores.overall!.p! > 0.3, `p = ${scores.overall!.p}`);
  assertEquals(reason, "too few scenarios (8): a difference of this size is too likely by chance");
});

Deno.test("a turn that an attempt has not reached takes no weight from the others", async () => {
  const { scores } = await compareRecorded(
    [["s", [["easy", 1, 0.5], ["hard", 0, undefined]]]],
    [["s", [["easy", 0.75], ["hard", 0]]]],
  );
  assertEquals([scores.overall!.baseline, scores.overall!.candidate], [0.375, 0.375]);
});

Deno.test("turns are paired by their id, also when their order changed", async () => {
  const { scores, only_in_baseline } = await compareRecorded(
    [["s", [["a", 0.1], ["b", 0.9]]]],
    [["s", [["b", 0.9], ["a", 0.1]]]],
  );
  assertEquals(scores.overall!.difference, 0);
  assertEquals(scores.overall!.turns, 2);
  assertEquals(only_in_baseline.turns, []);
});

Deno.test("turns that share an id are paired in their order", async () => {
  const { scores } = await compareRecorded(
    [["s", [["a", 0.1], ["a", 0.9]]]],
    [["s", [["a", 0.2], ["a", 0.9], ["a", 0.5]]]],
  );
  assertEquals(scores.overall!.turns, 2);
  assertAlmostEquals(scores.overall!.difference!, 0.05);
});

Deno.test("scenarios that share an id are paired by what they say, then by their order", async () => {
  const batch = (first: string, second: string) => [
    scenario("same", [interaction("t", { user_message: first })]),
    scenario("same", [interaction("t", { user_message: second })]),
  ];
  const run = (values: [number, number]) =>
    recordedRun([["same", [["t", values[0]]]], ["same", [["t", values[1]]]]]).turns;
  const { moved, changed, scores } = await compareTwo({
    baseline: { scenarios: batch("hello", "bye"), turns: run([0.1, 0.9]) },
    candidate: { scenarios: batch("bye", "hello"), turns: run([0.8, 0.3]) },
  });
  assertEquals(moved!.up.map(({ baseline, candidate }) => [baseline, candidate]), [[0.1, 0.3]]);
  assertEquals(moved!.down.map(({ baseline, candidate }) => [baseline, candidate]), [[0.9, 0.8]]);
  assertEquals(scores.overall!.scenarios, 2);
  assertEquals(changed, []);
});

Deno.test("ten scenarios that ask the same are one, whatever they are called, and it is said", async () => {
  const tenTimes = (value: number) => ({
    ...recordedRun(
      Array.from({ length: 10 }, (_, i): RecordedScenario => [`s${i}`, [["t", value]]]),
    ),
    scenarios: Array.from({ length: 10 }, (_, i) => scenario(`s${i}`, [interaction("t")])),
  });
  const { scores, verdict, notes } = await compareTwo({
    baseline: tenTimes(0.1),
    candidate: tenTimes(0.9),
  });
  assertEquals(scores.overall!.scenarios, 1);
  assertEquals(verdict, "inconclusive");
  assertEquals(notes, [{
    code: "identical_questions",
    detail: "10 scenarios ask 1 different question: those that ask the same count as one",
  }]);
});

Deno.test("what is only in one run is listed and enters no mean", async () => {
  const comparison = await compareRecorded(
    [["both", [["t", 0.5], ["gone", 0]]], ["old", [["t", 0]]]],
    [["both", [["t", { overall: 0.5, judge: 1 }], ["fresh", 0]]], ["new", [["t", 0]]]],
  );
  assertEquals(comparison.only_in_baseline, {
    scenarios: ["old"],
    turns: [{ scenario_id: "both", interaction_id: "gone" }],
    scores: [],
  });
  assertEquals(comparison.only_in_candidate, {
    scenarios: ["new"],
    turns: [{ scenario_id: "both", interaction_id: "fresh" }],
    scores: ["judge"],
  });
  assertEquals(comparison.scores.overall!.baseline, 0.5);
});

Deno.test("what an unfinished run has not reached is listed as missing there", async () => {
  const { only_in_baseline, scores } = await compareRecorded(
    [["a", [["t", 1], ["u", 1]]], ["b", [["t", 1]]]],
    [["a", [["t", 1], ["u", undefined]]], ["b", [["t", undefined]]]],
  );
  assertEquals(only_in_baseline.scenarios, ["b"]);
  assertEquals(only_in_baseline.turns, [{ scenario_id: "a", interaction_id: "u" }]);
  assertEquals(scores.overall!.difference, 0);
});

Deno.test("a scenario whose reference or system prompt changed is paired and named", async () => {
  const run = (reference_reply: string, system_prompt: string) => ({
    scenarios: [{ ...scenario("s", [interaction("t", { reference_reply })]), system_prompt }],
    turns: recordedRun([["s", [["t", 0.5]]]]).turns,
  });
  for (const candidate of [run("new", "old"), run("old", "new")]) {
    const { changed, scores } = await compareTwo({ baseline: run("old", "old"), candidate });
    assertEquals([changed, scores.overall!.scenarios], [["s"], 1]);
  }
});

Deno.test("a score that one run lacks at a turn leaves that turn out and counts it", async () => {
  const { scores } = await compareRecorded(
    [["s", [["t", { match: 1 }], ["u", { match: 0 }]]]],
    [["s", [["t", { match: 1 }], ["u", { match: null }]]]],
  );
  assertEquals([scores.match!.turns, scores.match!.turns_without_pair], [1, 1]);
  assertEquals(scores.match!.baseline, 1);
});

/** Seven scenarios in which some scores move and the others stay. */
const shifted = (shifts: Record<string, number>): RecordedScenario[] =>
  Array.from({ length: 7 }, (_, index) => [`s${index}`, [[
    "t",
    Object.fromEntries(Object.entries(shifts).map(([name, shift]) => [name, 0.5 + shift])),
  ]]]);

Deno.test("overall decides alone at 5 %, however many other scores move, and whichever way", async () => {
  const others = Array.from({ length: 16 }, (_, index) => `score_${index}`);
  const all = (overall: number, rest: number) =>
    shifted({ overall, ...Object.fromEntries(others.map((name) => [name, rest])) });
  const better = await compareRecorded(all(0, 0), all(0.2, -0.2));
  assertEquals([better.verdict, better.decided_by], ["improved", "overall"]);
  assertEquals(better.scores.overall!.p, 2 / 128);
  const same = await compareRecorded(all(0, 0), all(0, 0.2));
  assertEquals([same.verdict, same.reason], ["inconclusive", "no scenario differs"]);
});

Deno.test("the caller may name another score, and scores that do not decide have no verdict", async () => {
  const runs = () => ({
    baseline: recordedRun(shifted({ overall: 0, mood: 0 })),
    candidate: recordedRun(shifted({ overall: 0, mood: -0.2 })),
  });
  assertEquals((await compareTwo(runs())).verdict, "inconclusive");
  const { verdict, decided_by, scores, moved } = await compareTwo(runs(), { decideBy: "mood" });
  assertEquals([verdict, decided_by, moved!.score], ["regressed", "mood", "mood"]);
  assertEquals(Object.keys(scores), ["mood", "overall"]);
  for (const score of Object.values(scores)) assert(!("verdict" in score));
});

Deno.test("without a deciding score in both runs there is no verdict, and the reason says so", async () => {
  const { verdict, reason, scores } = await compareRecorded(
    shifted({ chrf: 0 }),
    shifted({ chrf: 0.2 }),
  );
  assertEquals(verdict, "inconclusive");
  assertEquals(reason, "overall cannot be compared: neither run has it");
  assertAlmostEquals(scores.chrf!.difference!, 0.2);
  const half = await compareRecorded(shifted({ chrf: 0, overall: 0 }), shifted({ chrf: 0.2 }));
  assertEquals(half.reason, "overall cannot be compared: only the baseline has it");
});

Deno.test("the other scores are corrected among themselves, and so are their intervals", async () => {
  const { scores } = await compareRecorded(
    shifted({ overall: 0, a: 0, b: 0, c: 0, d: 0 }),
    shifted({ overall: 0, a: 0.2, b: 0, c: 0, d: 0 }),
  );
  assertAlmostEquals(scores.a!.p!, 4 * 2 / 128);
  assert(scores.a!.ci95![0] <= 0, "alone it would leave 0 out");
});

Deno.test("a score that neither run has cannot decide", async () => {
  const error = await assertRejects(
    () =>
      compareTwo({ baseline: recordedRun(plain([1])), candidate: recordedRun(plain([1])) }, {
        decideBy: "bleu",
      }),
    AppError,
  );
  assertEquals(error.message, "cannot decide by bleu: the scores of the runs are overall");
});

Deno.test("the scenarios that moved most come first, either way", async () => {
  const { moved } = await compareRecorded(
    plain([0.5, 0.5, 0.5, 0.5, 0.5, 0.5]),
    plain([0.4, 0.9, 0.5, 0.1, 0.6, 0.4]),
  );
  assertEquals(moved!.up.map(({ scenario_id }) => scenario_id), ["s1", "s4"]);
  assertEquals(moved!.down.map(({ scenario_id }) => scenario_id), ["s3", "s0", "s5"]);
});

Deno.test("runs that share nothing give no score, and everything is listed", async () => {
  const { verdict, reason, scores, moved, only_in_baseline } = await compareRecorded(
    [["a", [["t", 1]]]],
    [["b", [["t", 1]]]],
  );
  assertEquals([verdict, scores, moved], ["inconclusive", {}, null]);
  assertEquals(reason, "overall cannot be compared: the runs have no scenario in common");
  assertEquals(only_in_baseline.scenarios, ["a"]);
});

Deno.test("a thousand scenarios are compared without holding the event loop", async () => {
  const values = Array.from({ length: 1000 }, (_, index) => (index * 37 % 100) / 100);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await compareRecorded(plain(values), plain(values.toReversed()));
  clearInterval(timer);
  assert(turns > 0, "no timer ran while the runs were compared");
});

Deno.test("a scenario that lost more turns than a call takes arguments is compared", async () => {
  const turns = Array.from({ length: 150_000 }, (_, turn): [string, number] => [`t${turn}`, 1]);
  const result = await compareTwo({
    baseline: recordedRun([["s", turns]]),
    candidate: recordedRun([["s", turns.slice(0, 1)]]),
  });
  assertEquals(result.only_in_baseline.turns.length, 149_999);
});

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
      }
    });
  }
}

Deno.test("what lacks a score counts 0, and what was left out is listed with the number of turns and the reason", async () => {
  const failing = meanings.map((meaning, index) =>
    turn(meaning, { grade: index < 5 ? null : 0.4 })
  );
  const down = await compare(run(graded), run(failing));
  assertEquals(down.left_out, []);
  assertEquals(down.scores.overall!.missing, { baseline: 0, candidate: 5 });
  assertAlmostEquals(down.scores.judge!.candidate, 7 * 0.4 / 12);
  const off = await compare(run(meanings.map((meaning) => turn(meaning))), run(graded));
  assertEquals(off.left_out, [
    { score: "judge", turns: 12, reason: "not_in_baseline", detail: null },
  ]);
  assertEquals(off.notes.map(({ code }) => code), ["overall_reduced"]);
});

Deno.test("a real regression is found although a few verdicts are missing", async () => {
  const good = Array.from({ length: 20 }, (_, index) => turn(0.8, { grade: 0.8 + index / 100 }));
  const bad = Array.from(
    { length: 20 },
    (_, index) => turn(0.8, { grade: index < 2 ? null : 0.3 + index / 100 }),
  );
  const { verdict, scores } = await compare(run(good), run(bad));
  assertEquals(verdict, "regressed");
  assertEquals(scores.overall!.missing, { baseline: 0, candidate: 2 });
  assert(scores.overall!.ci95![1] < 0);
});

Deno.test("a verdict that the missing values could change is none, and the reason says so", async () => {
  const good = Array.from({ length: 20 }, (_, index) => turn(0.8, { grade: 0.7 + index / 100 }));
  const bad = Array.from(
    { length: 20 },
    (_, index) => turn(0.8, { grade: index < 8 ? null : 0.75 + index / 100 }),
  );
  const comparison = await compareTwo(
    { baseline: recordedRun(run(good)), candidate: recordedRun(run(bad)) },
    { decideBy: "judge" },
  );
  assertEquals(comparison.verdict, "inconclusive");
  assertEquals(
    comparison.reason,
    "regressed by judge if turns without it count 0 (0 of the baseline and 8 of the candidate " +
      "without a score), improved without them: retry the run to fill them",
  );
  const text = describeTwo(comparison, markdownForm);
  assertStringIncludes(
    text,
    "`judge` is missing in 0 turns of the baseline and 8 of the candidate: it counts 0",
  );
  assert(!isRegression(comparison), "a judge that is down fails no build");
});

Deno.test("missing scores do not make a regression of a few failed calls, nor hide one of many", async () => {
  const good = Array.from({ length: 20 }, (_, index) => turn(0.8, { grade: 0.7 + index / 100 }));
  const error = { code: "provider_error", status: 500, detail: "" };
  const failed: Result = { scores: { semantic_similarity: 0, judge: 0, overall: 0 }, error };
  const withGaps = (failing: number) =>
    good.map((whole, index) => {
      if (index < failing) return failed;
      return index < 12 ? turn(0.8, { grade: null }) : whole;
    });
  for (const [failing, regresses] of [[1, false], [8, true]] as const) {
    const comparison = await compareTwo(
      { baseline: recordedRun(run(good)), candidate: recordedRun(run(withGaps(failing))) },
      { decideBy: "judge" },
    );
    assertEquals(comparison.verdict, "inconclusive");
    assertEquals(isRegression(comparison), regresses);
  }
});

Deno.test("missing labels do not raise the match of the others", async () => {
  const labelled = (intent: number | null, sentiment: number): Result => ({
    scores: {
      intent_match: intent,
      sentiment_match: sentiment,
      // As earlier versions recorded it: the mean of the labels that were found.
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
  const { baseline, candidate } = comparison.scores.metadata_match!;
  assertEquals([baseline, candidate], [0.5, 0]);
  assertEquals(comparison.left_out, []);
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

/** The scores of a run of one turn. */
async function readTurn(result: Partial<ComparedTurn["result"]>) {
  const turn = { scenario: 0, attempt: 0, turn: 0, result: { scores: {}, ...result } };
  const { turns, names } = await readScores(ReadableStream.from([turn as ComparedTurn]));
  return { turn: turns[0]![0]![0]!, names: [...names] };
}

const method = "rules" as const;

Deno.test("a label is compared if its key was read, whatever the key is called", async () => {
  const { turn } = await readTurn({
    scores: { intent_match: 1, metadata_match: 1 },
    reference_metadata: { intent: "refund", constructor: "x" },
    annotation: { method, keys: { intent: { method } } } as never,
  });
  assertEquals(turn.matches, ["intent_match"]);
  assertEquals(Object.keys(turn.methods), ["intent_match"]);
});

Deno.test("a planned score without a value is missing, also in runs that do not say so", async () => {
  const { turn, names } = await readTurn({
    scores: { intent_match: null, judge: null, exact_match: null },
    reference_metadata: { intent: "refund" },
    annotation: { method, keys: { intent: { method } } } as never,
    judge: { model: "j" } as never,
  });
  assertEquals([...turn.missing], ["judge", "intent_match", "metadata_match"]);
  assertEquals(names, ["intent_match", "judge"]); // `exact_match` was never planned
});

const failedRun = (values: RecordedScore[]) =>
  recordedRun(values.map((value, index) => [`s${index}`, [["t", value]]]));

const compareFailed = async (baseline: RecordedScore[], candidate: RecordedScore[]) =>
  await compareTwo({ baseline: failedRun(baseline), candidate: failedRun(candidate) });

const good = Array.from({ length: 20 }, (_, index) => 0.7 + index / 100);
const failing = (from: RecordedScore[], count: number): RecordedScore[] =>
  from.map((value, index) => index < count ? "failed" : value);

Deno.test("a verdict that failed turns would change is inconclusive, and says so", async () => {
  const comparison = await compareFailed(good, failing(good, 10));
  assertEquals([comparison.verdict, comparison.verdict_as_counted], ["inconclusive", "regressed"]);
  assertEquals(comparison.scores.overall!.failed, { baseline: 0, candidate: 10 });
  assertEquals(
    comparison.reason,
    "regressed by overall if turns without it count 0 (0 of the baseline and 10 of the candidate " +
      "failed), inconclusive without them: retry the run to fill them",
  );
  const text = describeTwo(comparison, markdownForm);
  assertStringIncludes(text, "No answer in 0 turns of the baseline and 10 of the candidate");
  assert(isRegression(comparison), "a build fails for it");
});

Deno.test("a verdict that holds without the failed turns stands", async () => {
  const bad = good.map((value) => value - 0.5);
  const { verdict, verdict_as_counted, scores } = await compareFailed(good, failing(bad, 1));
  assertEquals([verdict, verdict_as_counted], ["regressed", undefined]);
  assertEquals(scores.overall!.failed, { baseline: 0, candidate: 1 });
});

Deno.test("unanswered calls of the baseline do not make the candidate better", async () => {
  const comparison = await compareFailed(failing(good, 10), good);
  assertEquals([comparison.verdict, comparison.verdict_as_counted], ["inconclusive", "improved"]);
  assert(!isRegression(comparison));
});

for (const code of ["empty_reply", "tool_calls_only"]) {
  Deno.test(`an answer without a text is a fact: a model that sends it regresses (${code})`, async () => {
    const silent = { scores: { overall: 0 }, error: { code, status: 200, detail: "" } };
    const { verdict, scores } = await compareFailed(good, good.map(() => silent));
    assertEquals(verdict, "regressed");
    assertEquals([scores.overall!.candidate, scores.overall!.failed], [0, undefined]);
  });
}

Deno.test("without a failed call the comparison has none of these fields", async () => {
  const comparison = await compareFailed(good, good.map((value) => value - 0.5));
  assert(!("verdict_as_counted" in comparison));
  assert(!("failed" in comparison.scores.overall!));
});
