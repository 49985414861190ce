import { assert, assertAlmostEquals, assertEquals, assertRejects } from "@std/assert";
import { compareRuns } from "../../../eval/compare/compare.ts";
import { AppError } from "../../../shared/errors.ts";
import { interaction, scenario } from "../../fakes/eval_ports.ts";
import { recordedRun, type RecordedScenario } from "../../fakes/recorded_run.ts";

const compare = (baseline: RecordedScenario[], candidate: RecordedScenario[]) =>
  compareRuns({ baseline: recordedRun(baseline), candidate: recordedRun(candidate) });

/** One turn a scenario, one attempt. */
const plain = (values: number[]): RecordedScenario[] =>
  values.map((value, index) => [`s${index}`, [["t", value]]]);

Deno.test("a score has both means, their difference, its interval and a verdict", async () => {
  const baseline = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
  const { scores, verdict } = await compare(
    plain(baseline),
    plain(baseline.map((value) => value + 0.1)),
  );
  const { overall } = scores;
  assertAlmostEquals(overall!.baseline, 0.45);
  assertAlmostEquals(overall!.candidate, 0.55);
  assertAlmostEquals(overall!.difference, 0.1);
  assertAlmostEquals(overall!.ci95![0], 0.1, 0.02);
  assertAlmostEquals(overall!.ci95![1], 0.1, 0.02);
  assertEquals(overall!.p, 2 / 256);
  assertEquals([overall!.verdict, overall!.reason, verdict], ["improved", null, "improved"]);
});

Deno.test("the same the other way round is a regression", async () => {
  const values = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
  const { verdict } = await compare(plain(values.map((value) => value + 0.1)), plain(values));
  assertEquals(verdict, "regressed");
});

Deno.test("many attempts of one scenario are no evidence about scenarios, and the reason says so", async () => {
  const attempts = (value: number) => new Array<number>(100).fill(value);
  const { scores } = await compare(
    [["only", [["t", ...attempts(0.1)]]]],
    [["only", [["t", ...attempts(0.9)]]]],
  );
  assertAlmostEquals(scores.overall!.difference, 0.8);
  assertEquals(scores.overall!.ci95, null);
  assertEquals(scores.overall!.verdict, "inconclusive");
  assertEquals(
    scores.overall!.reason,
    "only 1 scenario differs: with 1 score looked at the test needs at least 6",
  );
});

Deno.test("a failed turn counts 0 in every score that the other run has there", async () => {
  const baseline: RecordedScenario[] = [["s", [["t", 0.8, 0.8]]]];
  const half = await compare(baseline, [["s", [["t", 0.8, "failed"]]]]);
  assertAlmostEquals(half.scores.overall!.candidate, 0.4);
  const silent = await compare(baseline, [["s", [["t", 0.8, "failed without scores"]]]]);
  assertAlmostEquals(silent.scores.overall!.candidate, 0.4);
  const dead = await compare([["s", [["t", 0.8], ["u", 0.6]]]], [
    ["s", [["t", "failed without scores"], ["u", 0.6]]],
  ]);
  assertAlmostEquals(dead.scores.overall!.candidate, 0.3);
});

Deno.test("runs of unequal attempts are compared by the mean of each turn", async () => {
  const { scores } = await compare([["s", [["t", 0.2, 0.4, 0.6]]]], [["s", [["t", 0.5]]]]);
  assertAlmostEquals(scores.overall!.baseline, 0.4);
  assertAlmostEquals(scores.overall!.candidate, 0.5);
});

Deno.test("an attempt counts as one conversation, also if it has many turns", async () => {
  const conversation = (values: number[][]): RecordedScenario[] =>
    Array.from({ length: 8 }, (_, index) => [
      `s${index}`,
      values.map((attempts, turn) => [`t${turn}`, ...attempts]),
    ]);
  // Ten attempts of two turns against one: six scenarios' worth of rare misses is still no evidence.
  const often = [1, 1, 1, 1, 1, 1, 1, 1, 1, 0];
  const { scores } = await compare(conversation([often, often]), conversation([[1], [1]]));
  assertAlmostEquals(scores.overall!.difference, 0.1);
  assertEquals(scores.overall!.turns, 16);
  assert(scores.overall!.p > 0.3, `p = ${scores.overall!.p}`);
  assertEquals(
    scores.overall!.reason,
    "the runs differ in attempts, and equal models would differ by as much too often",
  );
});

Deno.test("a turn that an attempt has not reached takes no weight from the others", async () => {
  const { scores } = await compare(
    [["s", [["easy", 1, 0.5], ["hard", 0, undefined]]]],
    [["s", [["easy", 0.75], ["hard", 0]]]],
  );
  assertEquals([scores.overall!.baseline, scores.overall!.candidate], [0.375, 0.375]);
});

Deno.test("turns are paired by their id, also when their order changed", async () => {
  const { scores, only_in_baseline } = await compare(
    [["s", [["a", 0.1], ["b", 0.9]]]],
    [["s", [["b", 0.9], ["a", 0.1]]]],
  );
  assertEquals(scores.overall!.difference, 0);
  assertEquals(scores.overall!.turns, 2);
  assertEquals(only_in_baseline.turns, []);
});

Deno.test("turns that share an id are paired in their order", async () => {
  const { scores } = await compare(
    [["s", [["a", 0.1], ["a", 0.9]]]],
    [["s", [["a", 0.2], ["a", 0.9], ["a", 0.5]]]],
  );
  assertEquals(scores.overall!.turns, 2);
  assertAlmostEquals(scores.overall!.difference, 0.05);
});

Deno.test("scenarios that share an id are paired by what they say, then by their order", async () => {
  const batch = (first: string, second: string) => [
    scenario("same", [interaction("t", { user_message: first })]),
    scenario("same", [interaction("t", { user_message: second })]),
  ];
  const run = (values: [number, number]) =>
    recordedRun([["same", [["t", values[0]]]], ["same", [["t", values[1]]]]]).turns;
  const { moved, changed, scores } = await compareRuns({
    baseline: { scenarios: batch("hello", "bye"), turns: run([0.1, 0.9]) },
    candidate: { scenarios: batch("bye", "hello"), turns: run([0.8, 0.3]) },
  });
  assertEquals(moved!.up.map(({ baseline, candidate }) => [baseline, candidate]), [[0.1, 0.3]]);
  assertEquals(moved!.down.map(({ baseline, candidate }) => [baseline, candidate]), [[0.9, 0.8]]);
  assertEquals(scores.overall!.scenarios, 2);
  assertEquals(changed, []);
});

Deno.test("a scenario that a batch lists ten times is still one scenario", async () => {
  const tenTimes = (value: number): RecordedScenario[] =>
    Array.from({ length: 10 }, () => ["same", [["t", value]]]);
  const { scores } = await compare(tenTimes(0.1), tenTimes(0.9));
  assertEquals(scores.overall!.scenarios, 1);
  assertEquals(scores.overall!.verdict, "inconclusive");
});

Deno.test("what is only in one run is listed and enters no mean", async () => {
  const comparison = await compare(
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
  const { only_in_baseline, scores } = await compare(
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
    const { changed, scores } = await compareRuns({ baseline: run("old", "old"), candidate });
    assertEquals([changed, scores.overall!.scenarios], [["s"], 1]);
  }
});

Deno.test("a score that one run lacks at a turn leaves that turn out and counts it", async () => {
  const { scores } = await compare(
    [["s", [["t", { match: 1 }], ["u", { match: 0 }]]]],
    [["s", [["t", { match: 1 }], ["u", { match: null }]]]],
  );
  assertEquals([scores.match!.turns, scores.match!.turns_without_pair], [1, 1]);
  assertEquals(scores.match!.baseline, 1);
});

Deno.test("verdicts are corrected for the scores looked at, and only for those", async () => {
  const names = ["a", "b", "c", "d"];
  const batch = (shift: number): RecordedScenario[] =>
    Array.from({ length: 7 }, (_, index) => [`s${index}`, [[
      "t",
      Object.fromEntries(names.map((name) => [name, 0.5 + (name === "a" ? shift : 0)])),
    ]]]);
  const all = await compare(batch(0), batch(0.2));
  assertEquals(all.scores.a!.p, 2 / 128);
  assertAlmostEquals(all.scores.a!.p_adjusted, 4 * 2 / 128);
  assertEquals(all.scores.a!.verdict, "inconclusive");
  assertEquals(
    all.scores.a!.reason,
    "only 7 scenarios differ: with 4 scores looked at the test needs at least 8",
  );
  assertEquals(all.scores.b!.reason, "no scenario differs");
  const one = await compareRuns(
    { baseline: recordedRun(batch(0)), candidate: recordedRun(batch(0.2)) },
    { scores: ["a"] },
  );
  assertEquals(one.scores.a!.verdict, "improved");
  assertEquals(Object.keys(one.scores), ["a"]);
});

Deno.test("the scenarios that a test needs are fewer once other scores have their verdicts", async () => {
  // How many of nine scenarios each score moves in.
  const moved = { a: 9, b: 6, c: 0, d: 0 };
  const batch = (shift: number): RecordedScenario[] =>
    Array.from({ length: 9 }, (_, index) => [`s${index}`, [[
      "t",
      Object.fromEntries(
        Object.entries(moved).map(([name, count]) => [name, 0.5 + (index < count ? shift : 0)]),
      ),
    ]]]);
  const { scores } = await compare(batch(0), batch(0.2));
  assertEquals(scores.a!.verdict, "improved");
  assertAlmostEquals(scores.b!.p_adjusted, 3 * 2 / 64); // a is decided, so three are left
  assertEquals(
    scores.b!.reason,
    "only 6 scenarios differ: with 4 scores looked at the test needs at least 7",
  );
});

Deno.test("a better overall is found beside many other scores, and a lesser score is not", async () => {
  const others = Array.from({ length: 16 }, (_, index) => `score_${index}`);
  const names = ["overall", ...others];
  const batch = (better: string, shift: number): RecordedScenario[] =>
    Array.from({ length: 7 }, (_, index) => [`s${index}`, [[
      "t",
      Object.fromEntries(names.map((name) => [name, 0.5 + (name === better ? shift : 0)])),
    ]]]);
  const { scores: first } = await compare(batch("overall", 0), batch("overall", 0.2));
  assertAlmostEquals(first.overall!.p_adjusted, 2 * 2 / 128);
  assertEquals(first.overall!.verdict, "improved");
  const { scores: second } = await compare(batch("score_3", 0), batch("score_3", 0.2));
  assertAlmostEquals(second.score_3!.p_adjusted, 32 * 2 / 128);
  assertEquals(second.score_3!.verdict, "inconclusive");
  assertAlmostEquals(second.score_3!.planning!.alpha, 0.05 / 32);
});

Deno.test("a score that the runs do not both have cannot be asked for", async () => {
  const error = await assertRejects(
    () =>
      compareRuns({ baseline: recordedRun(plain([1])), candidate: recordedRun(plain([1])) }, {
        scores: ["bleu"],
      }),
    AppError,
  );
  assertEquals(error.message, "cannot compare bleu: the scores in both runs are overall");
});

Deno.test("the scenarios that moved most come first, either way", async () => {
  const { moved } = await compare(
    plain([0.5, 0.5, 0.5, 0.5, 0.5, 0.5]),
    plain([0.4, 0.9, 0.5, 0.1, 0.6, 0.4]),
  );
  assertEquals(moved!.up.map(({ scenario_id }) => scenario_id), ["s1", "s4"]);
  assertEquals(moved!.down.map(({ scenario_id }) => scenario_id), ["s3", "s0", "s5"]);
});

Deno.test("runs that share nothing give no score, and everything is listed", async () => {
  const { verdict, scores, moved, only_in_baseline } = await compare(
    [["a", [["t", 1]]]],
    [["b", [["t", 1]]]],
  );
  assertEquals([verdict, scores, moved], ["inconclusive", {}, null]);
  assertEquals(only_in_baseline.scenarios, ["a"]);
});

Deno.test("a thousand scenarios are compared without holding the event loop", async () => {
  const values = Array.from({ length: 1000 }, (_, index) => (index * 37 % 100) / 100);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await compare(plain(values), plain(values.toReversed()));
  clearInterval(timer);
  assert(turns > 0, "no timer ran while the runs were compared");
});

Deno.test("a scenario that lost more turns than a call takes arguments is compared", async () => {
  const turns = Array.from({ length: 150_000 }, (_, turn): [string, number] => [`t${turn}`, 1]);
  const result = await compareRuns({
    baseline: recordedRun([["s", turns]]),
    candidate: recordedRun([["s", turns.slice(0, 1)]]),
  });
  assertEquals(result.only_in_baseline.turns.length, 149_999);
});
