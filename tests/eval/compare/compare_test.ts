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
  const { scores, verdict, reason, decided_by } = await compare(
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
  const { verdict } = await compare(plain(values.map((value) => value + 0.1)), plain(values));
  assertEquals(verdict, "regressed");
});

Deno.test("many attempts of one scenario are no evidence about scenarios, and the reason says so", async () => {
  const attempts = (value: number) => new Array<number>(100).fill(value);
  const { scores, verdict, reason } = await compare(
    [["only", [["t", ...attempts(0.1)]]]],
    [["only", [["t", ...attempts(0.9)]]]],
  );
  assertAlmostEquals(scores.overall!.difference!, 0.8);
  assertEquals(scores.overall!.ci95, null);
  assertEquals(scores.overall!.ci95_reason, "1 scenario: an interval needs 5");
  assertEquals(verdict, "inconclusive");
  assertEquals(reason, "only 1 scenario differs: the test needs at least 6");
});

Deno.test("a failed turn counts 0 in every score that the other run has there", async () => {
  const baseline: RecordedScenario[] = [["s", [["t", 0.8, 0.8]]]];
  const half = await compare(baseline, [["s", [["t", 0.8, "failed"]]]]);
  assertAlmostEquals(half.scores.overall!.candidate!, 0.4);
  const silent = await compare(baseline, [["s", [["t", 0.8, "failed without scores"]]]]);
  assertAlmostEquals(silent.scores.overall!.candidate!, 0.4);
  const dead = await compare([["s", [["t", 0.8], ["u", 0.6]]]], [
    ["s", [["t", "failed without scores"], ["u", 0.6]]],
  ]);
  assertAlmostEquals(dead.scores.overall!.candidate!, 0.3);
});

Deno.test("runs of unequal attempts are compared by the mean of each turn", async () => {
  const { scores } = await compare([["s", [["t", 0.2, 0.4, 0.6]]]], [["s", [["t", 0.5]]]]);
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
  const { scores, reason } = await compare(conversation([often, often]), conversation([[1], [1]]));
  assertAlmostEquals(scores.overall!.difference!, 0.1);
  assertEquals(scores.overall!.turns, 16);
  assert(scores.overall!.p! > 0.3, `p = ${scores.overall!.p}`);
  assertEquals(reason, "a difference of this size comes up by chance too often");
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
  assertAlmostEquals(scores.overall!.difference!, 0.05);
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

Deno.test("ten scenarios that ask the same are one, whatever they are called, and it is said", async () => {
  const tenTimes = (value: number) => ({
    ...recordedRun(
      Array.from({ length: 10 }, (_, i): RecordedScenario => [`s${i}`, [["t", value]]]),
    ),
    scenarios: Array.from({ length: 10 }, (_, i) => scenario(`s${i}`, [interaction("t")])),
  });
  const { scores, verdict, notes } = await compareRuns({
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
  const better = await compare(all(0, 0), all(0.2, -0.2));
  assertEquals([better.verdict, better.decided_by], ["improved", "overall"]);
  assertEquals(better.scores.overall!.p, 2 / 128);
  const same = await compare(all(0, 0), all(0, 0.2));
  assertEquals([same.verdict, same.reason], ["inconclusive", "no scenario differs"]);
});

Deno.test("the caller may name another score, and scores that do not decide have no verdict", async () => {
  const runs = () => ({
    baseline: recordedRun(shifted({ overall: 0, mood: 0 })),
    candidate: recordedRun(shifted({ overall: 0, mood: -0.2 })),
  });
  assertEquals((await compareRuns(runs())).verdict, "inconclusive");
  const { verdict, decided_by, scores, moved } = await compareRuns(runs(), { decideBy: "mood" });
  assertEquals([verdict, decided_by, moved!.score], ["regressed", "mood", "mood"]);
  assertEquals(Object.keys(scores), ["mood", "overall"]);
  for (const score of Object.values(scores)) assert(!("verdict" in score));
});

Deno.test("without a deciding score in both runs there is no verdict, and the reason says so", async () => {
  const { verdict, reason, scores } = await compare(
    shifted({ chrf: 0 }),
    shifted({ chrf: 0.2 }),
  );
  assertEquals(verdict, "inconclusive");
  assertEquals(reason, "overall cannot be compared: neither run has it");
  assertAlmostEquals(scores.chrf!.difference!, 0.2);
  const half = await compare(shifted({ chrf: 0, overall: 0 }), shifted({ chrf: 0.2 }));
  assertEquals(half.reason, "overall cannot be compared: only the baseline has it");
});

Deno.test("the other scores are corrected among themselves, and so are their intervals", async () => {
  const { scores } = await compare(
    shifted({ overall: 0, a: 0, b: 0, c: 0, d: 0 }),
    shifted({ overall: 0, a: 0.2, b: 0, c: 0, d: 0 }),
  );
  assertAlmostEquals(scores.a!.p!, 4 * 2 / 128);
  assert(scores.a!.ci95![0] <= 0, "alone it would leave 0 out");
});

Deno.test("a score that neither run has cannot decide", async () => {
  const error = await assertRejects(
    () =>
      compareRuns({ baseline: recordedRun(plain([1])), candidate: recordedRun(plain([1])) }, {
        decideBy: "bleu",
      }),
    AppError,
  );
  assertEquals(error.message, "cannot decide by bleu: the scores of the runs are overall");
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
  const { verdict, reason, scores, moved, only_in_baseline } = await compare(
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
