import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parse, type TestCase, type TestSuites } from "junit2json";
import fc from "seeded-fast-check";
import { html } from "../../../eval/report/formats/html.ts";
import { junit, junitScenarios } from "../../../eval/report/formats/junit.ts";
import { oneLine, oneLineEnds, printable } from "../../../eval/report/text/text_form.ts";
import type { Comparison } from "../../../eval/figures/compare_stored.ts";
import { anyCharacter } from "../../fakes/any_character.ts";
import { recordedRun } from "../../fakes/recorded_run.ts";
import {
  failedTurn,
  incompleteTurn,
  storedRun,
  type StoredScenario,
  textOf,
} from "../../fakes/stored_run.ts";
import { PAYLOADS } from "../../pages/payloads.ts";
import { asComparison, compareTwo } from "../../fakes/compare_two.ts";

/** Read by the library, and by the rule that it is lenient about: XML's own characters only. */
async function readBack(batch: StoredScenario[]): Promise<TestSuites> {
  const text = await textOf(junit.write(storedRun(batch)));
  assert(/^[\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u.test(text), "not XML 1.0");
  return await parse(text) as TestSuites;
}

function casesOf(suites: TestSuites): TestCase[] {
  return suites.testsuite!.flatMap(({ testcase = [] }) => testcase);
}

const below = { scores: { overall: 0.69999, token_f1: 0.5, judge: null }, agent_reply: "wrong" };

Deno.test("a suite has the counts of the labels of agreement, and a contradiction fails with its reason", async () => {
  const says = { entails: 0.01, contradicts: 0.97, covers: 0, label: "contradicts" as const };
  const same = { ...says, contradicts: 0, label: "same" as const };
  const turns = [{ agreement: says }, { agreement: same }, { agreement: same }];
  const text = await textOf(junit.write(storedRun([["a", [turns]]])));
  assertStringIncludes(text, '<property name="agreement_same" value="2"/>');
  assertStringIncludes(text, '<property name="agreement_contradicts" value="1"/>');
  assertStringIncludes(text, "contradicts the reference (0.97)");
});

Deno.test("the overall of a run is a mean, with missing scores at 0", async () => {
  const turns = [{ scores: { overall: 0.5 } }, incompleteTurn];
  const text = await textOf(junit.write(storedRun([["a", [turns]]])));
  assertStringIncludes(text, '<property name="overall" value="0.250"/>');
});

Deno.test("a JUnit reader finds a suite a scenario, a case a turn, and the counts of each", async () => {
  const suites = await readBack([
    ["first", [[{}, below], [failedTurn, { scores: { overall: null } }]]],
    ["second", [[{}], [{}]]],
  ]);
  assertEquals([suites.name, suites.tests, suites.failures, suites.errors], ["a test", 6, 1, 1]);
  const [first, second] = suites.testsuite!;
  assertEquals([first!.name, first!.tests, first!.failures, first!.errors, first!.skipped], [
    "first",
    4,
    1,
    1,
    1,
  ]);
  assertEquals([second!.name, second!.tests, second!.failures, second!.errors], [
    "second",
    2,
    0,
    0,
  ]);
  assertEquals(first!.testcase!.map(({ name }) => name), [
    "turn 1: t1 (attempt 1)",
    "turn 2: t2 (attempt 1)",
    "turn 1: t1 (attempt 2)",
    "turn 2: t2 (attempt 2)",
  ]);
  assertEquals([first!.testcase![0]!.classname, first!.testcase![0]!.time], ["first", 0.12]);
});

Deno.test("with one case per scenario, one that passes only sometimes is flaky and no failure", async () => {
  const batch: StoredScenario[] = [
    ["always", [[{}], [{}]]],
    ["sometimes", [[{}, below], [{}, {}]]],
    ["never", [[below], [below]]],
    ["broken", [[failedTurn], [failedTurn]]],
    ["unscored", [[{ scores: { overall: null } }]]],
  ];
  const text = await textOf(junitScenarios.write(storedRun(batch)));
  const suites = await parse(text) as TestSuites;
  const [suite] = suites.testsuite!;
  assertEquals([suite!.tests, suite!.failures, suite!.errors, suite!.skipped], [5, 1, 1, 1]);
  assertEquals(casesOf(suites).map(({ name }) => name), batch.map(([name]) => name));
  assertEquals(
    [...text.matchAll(/<(flakyFailure|failure|error|skipped) /g)].map(([, kind]) => kind),
    [
      "flakyFailure",
      "failure",
      "error",
      "skipped",
    ],
  );
  assertStringIncludes(text, 'message="attempt 1 of 2" type="sometimes">turn 2 (t2): ');
});

Deno.test("a score below the threshold is a failure that shows what was expected", async () => {
  const [one] = casesOf(await readBack([["s", [[below]]]]));
  const [failure] = one!.failure!;
  assertEquals(failure!.message, "overall 0.69, needed 0.70");
  assertEquals(failure!.type, "score");
  assertEquals(
    failure!.inner,
    "asked: message t1\nexpected: expected\nanswered: wrong\nscores: overall 0.6999, token_f1 0.5",
  );
});

Deno.test("scores are rounded as in other reports: 0.57 does not read 0.5699", async () => {
  const scores = { overall: 0.57, token_f1: 2 / 3, chrf: 0.29 };
  const [one] = casesOf(await readBack([["s", [[{ scores }]]]]));
  const [failure] = one!.failure!;
  assertEquals(
    failure!.inner!.split("\n").at(-1),
    "scores: overall 0.57, token_f1 0.6667, chrf 0.29",
  );
});

Deno.test("a failure says in what the reply differs", async () => {
  const [one] = casesOf(
    await readBack([["s", [[{ ...below, wrong_values: ["60 days instead of 30 days"] }]]]]),
  );
  assertEquals(one!.failure![0]!.message, "wrong value: 60 days instead of 30 days");
});

Deno.test("a turn that lacks a part of its score is an error of its own kind", async () => {
  const suites = await readBack([["s", [[incompleteTurn, failedTurn]]]]);
  assertEquals([suites.failures, suites.errors], [0, 2]);
  const [error] = casesOf(suites)[0]!.error!;
  assertEquals([error!.type, error!.message], ["missing_score", "no judge: judge_unavailable"]);
});

Deno.test("a score at the threshold passes", async () => {
  const [one] = casesOf(await readBack([["s", [[{ scores: { overall: 0.7 } }]]]]));
  assertEquals([one!.failure, one!.error, one!.skipped], [undefined, undefined, undefined]);
});

Deno.test("a score that lost its last digit to rounding is no failure", async () => {
  const scores = { overall: (0.7 + 0.7 + 0.7) / 3 };
  const [one] = casesOf(await readBack([["s", [[{ scores }]]]]));
  assertEquals(one!.failure, undefined);
});

Deno.test("a JUnit file shows the endpoint without its query and its password", async () => {
  const endpoint = "https://user:hidden@model.example/v1?key=hidden";
  const text = await textOf(junit.write(storedRun([["s", [[{}]]]], { endpoint })));
  assert(text.includes('"https://model.example/v1"'), text);
  assert(!text.includes("hidden"), text);
});

Deno.test("a failed call is an error, not a failure", async () => {
  const [one] = casesOf(await readBack([["s", [[failedTurn]]]]));
  assertEquals(one!.failure, undefined);
  assertEquals(one!.error![0]!.type, "provider_timeout");
  assertEquals(one!.error![0]!.message, "no answer within 120 s");
});

Deno.test("a run that ended early is an error, though all of its turns have passed", async () => {
  const source = storedRun([["s", [[{}]]]], { status: "interrupted", totalTurns: 10 });
  const suites = await parse(await textOf(junit.write(source))) as TestSuites;
  assertEquals([suites.tests, suites.failures, suites.errors], [2, 0, 1]);
  const [one] = casesOf(suites);
  assertEquals(one!.error![0]!.message, "interrupted after 1 of 10 turns");
});

Deno.test("two scenarios of one id are two suites with two names", async () => {
  const suites = await readBack([["same", [[{}]]], ["same", [[{}]]]]);
  assertEquals(suites.testsuite!.map(({ name }) => name), ["same", "same (2)"]);
});

Deno.test("markup, quotes and control characters in a reply stay text", async () => {
  const reply = `]]></failure><script a="1">&amp;'\0\x07\x1b[31m\ud800`;
  const [one] = casesOf(await readBack([[`"<&>'\n`, [[{ ...below, agent_reply: reply }]]]]));
  assertEquals(one!.classname, `"<&>'\n`);
  assert(
    one!.failure![0]!.inner!.includes(`answered: ]]></failure><script a="1">&amp;'[31m\ufffd`),
  );
});

Deno.test("whatever the texts hold, the file is read back with its counts", async () => {
  const anything = fc.string({ unit: anyCharacter });
  await fc.assert(fc.asyncProperty(anything, anything, anything, async (id, reply, detail) => {
    const error = { code: "provider_error", status: 500, detail };
    const suites = await readBack([
      [id, [[{ ...below, id: reply, agent_reply: reply, user_message: id }], [{ error }]]],
    ]);
    assertEquals([suites.tests, suites.failures, suites.errors], [2, 1, 1]);
    assertEquals(casesOf(suites).length, 2);
  }));
});

Deno.test("a comparison is a suite with one case, the deciding score, and a regression is a failure", async () => {
  const run = (shift: number, name = "s") =>
    recordedRun(
      [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7].map((value, index) =>
        [`${name}${index}`, [["t", value + shift]]] as [string, [[string, number]]]
      ),
    );
  const write = async (baseline: ReturnType<typeof run>) => {
    const result = await compareTwo({ baseline, candidate: run(0) });
    const comparison = {
      result: asComparison(result, [{ run_id: "run-0" }, {}]),
      isRequired: true,
    };
    const source = { ...storedRun([["s", [[{}]]]]), comparison };
    return await parse(await textOf(junit.write(source))) as TestSuites;
  };
  const failuresOf = ({ testsuite }: TestSuites) =>
    testsuite!.at(-1)!.testcase!.flatMap(({ failure = [] }) => failure.map((one) => one.message));

  const worse = await write(run(0.1));
  assertEquals(worse.testsuite!.map(({ name }) => name), ["s", "compared with run-0"]);
  assertEquals([worse.tests, worse.failures, worse.errors], [2, 1, 0]);
  assertEquals(failuresOf(worse), ["overall fell from 0.500 to 0.400 (p 0.016)"]);

  const better = await write(run(-0.05));
  assertEquals([better.tests, better.failures, better.errors], [2, 0, 0]);

  const foreign = await write(run(0, "other"));
  assertEquals([foreign.tests, foreign.failures, foreign.errors], [2, 0, 1]);
  assertEquals(casesOf(foreign).at(-1)!.error![0]!.type, "not_comparable");
});

Deno.test("a regression by failed calls names them, and not a p-value of 1", async () => {
  const run = (score: number | "failed") =>
    recordedRun([..."abcdefgh"].map((id) => [id, [["t", score]]]));
  const result = await compareTwo({ baseline: run(0.8), candidate: run("failed") });
  const comparison = { result: asComparison(result, [{ run_id: "run-0" }, {}]) };
  const text = await textOf(junit.write({ ...storedRun([["s", [[{}]]]]), comparison }));
  assertStringIncludes(
    text,
    "overall fell from 0.800 to 0.000 (regressed by overall if turns without it count 0 (0 of the",
  );
});

async function write(...parameters: Parameters<typeof storedRun>): Promise<string> {
  return (await Array.fromAsync(html.write(storedRun(...parameters)))).join("");
}

function dataOf(file: string) {
  const [, text] = /<script type="application\/json" id="data">([^]*?)<\/script>/.exec(file)!;
  const { runs, comparison } = JSON.parse(text!);
  return { ...runs[0], comparison };
}

Deno.test("a report holds the run, its summary and every turn whole", async () => {
  const file = await write([["a", [[{ agent_reply: "one" }, {}], [{}, {}]]], ["b", [[{}]]]]);
  const { run, summary, turns, scenarios } = dataOf(file);
  assertEquals([run.run_id, turns.length], ["run-1", 5]);
  assertEquals(scenarios.map(({ id }: { id: string }) => id), ["a", "b"]);
  assertEquals(turns[0].interaction.agent_reply, "one");
  assert(summary.statistics.overall);
});

Deno.test("a report holds the spread, and the agreement of those who graded", async () => {
  const grade = {
    label: null,
    comment: null,
    corrected_reply: null,
    created_at: "2026-01-01T00:00:00Z",
  };
  const grades = [
    { ...grade, author: "ann", value: 0.5 },
    { ...grade, author: null, value: 1 },
  ];
  const scores = { overall: 0.8 };
  const { summary, agreement } = dataOf(
    await write([
      ["a", [[{ scores, grades }], [{ scores }]]],
      ["b", [[{ scores: { overall: 0.4 } }], [{ scores: { overall: 0.4 } }]]],
    ]),
  );
  assertEquals(summary.spread, { scenarios: 1, attempts: 0, judge: null });
  assertEquals([agreement.grades, agreement.graded_turns, agreement.judge.score], [
    2,
    1,
    "overall",
  ]);
  assertEquals(agreement.authors.map(({ author }: { author: string }) => author), [null, "ann"]);
});

Deno.test("a report counts by the threshold that it is written with", async () => {
  const scores = { overall: 0.8 };
  const source = { ...storedRun([["a", [[{ scores }]]]]), threshold: 0.9 };
  const { summary, turns } = dataOf((await Array.fromAsync(html.write(source))).join(""));
  assertEquals(turns[0].outcome, "below");
  assertEquals([summary.pass_threshold, summary.outcomes.below, summary.scenarios.failed], [
    0.9,
    1,
    1,
  ]);
});

Deno.test("no text of a caller or a model ends the report's data or adds a tag", async () => {
  const turns = PAYLOADS.map((text) => ({ user_message: text, agent_reply: text, id: text }));
  const file = await write([[PAYLOADS[2]!, [turns]]], {
    testName: PAYLOADS[0]!,
    modelId: PAYLOADS[1]!,
  });
  const page = file.replace(/(?<=<script type="module">)[^]*?(?=<\/script>)/, ""); // the program
  const count = (pattern: RegExp) => page.match(pattern)?.length;
  assertEquals([count(/<script/g), count(/<\/script>/g), count(/<img/gi)], [2, 2, undefined]);
  const data = dataOf(file);
  assertEquals(data.turns[5].interaction.agent_reply, PAYLOADS[5]);
  assertEquals(data.run.test_name, PAYLOADS[0]);
});

Deno.test("a report of a group holds its models and pairs, whatever their names are", async () => {
  const result = {
    group_id: "g",
    runs: [{ name: PAYLOADS[2]!, test_name: PAYLOADS[0]!, run_id: "r" }],
    pairs: [],
  } as unknown as Comparison;
  const pieces = html.writeComparison({ result, runs: () => Promise.resolve([]) });
  const file = (await Array.fromAsync(pieces)).join("");
  assertEquals(file.match(/<script/g)?.length, 2);
  assertEquals(dataOf(file).comparison, result);
});

Deno.test("a report allows its own script and style by their hashes, and nothing else", async () => {
  const file = await write([["a", [[{}]]]]);
  const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(file)!;
  const hash = async (text: string) => {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return `'sha256-${new Uint8Array(digest).toBase64()}'`;
  };
  const [, script] = /<script type="module">([^]*?)<\/script>/.exec(file)!;
  const [, style] = /<style>([^]*?)<\/style>/.exec(file)!;
  assertStringIncludes(policy!, `script-src ${await hash(script!)};`);
  assertStringIncludes(policy!, `style-src ${await hash(style!)};`);
  assertStringIncludes(policy!, "default-src 'none'");
  assert(!/https?:\/\/(?!www\.w3\.org)/.test(style!), "the style loads something");
});

Deno.test("somebody else's text has nothing that a terminal or a page would act on", () => {
  const hostile = [
    "\x1b[31m", // a colour
    "\u0007", // a bell
    "\u009b", // a control sequence in one character
    "\u202e", // right to left from here
    "\u2066", // the same, isolated
    "\u061c", // an Arabic letter mark
    "\u200f", // a right-to-left mark
    "\u2028", // a line separator
  ];
  for (const text of hostile) {
    const [first = ""] = text;
    assertEquals(oneLine(`a${text}b`, 99).includes(first), false, JSON.stringify(text));
    assertEquals(printable(`a${text}b`).includes(first), false, JSON.stringify(text));
  }
  assertEquals(oneLine(" a\r\n\tb ", 99), "a b");
  assertEquals(printable("a\nb\rc"), "a\nb c");
});

Deno.test("a text that is cut says so, at its end or in its middle", () => {
  assertEquals(oneLine("0123456789", 10), "0123456789");
  assertEquals(oneLine("0123456789a", 10), "012345678…");
  assertEquals(oneLineEnds("0123456789", 10), "0123456789");
  assertEquals(oneLineEnds("0123456789a", 10), "012 … 89a");
  assertEquals(oneLineEnds("0123456789😀bc", 10).isWellFormed(), true);
});
