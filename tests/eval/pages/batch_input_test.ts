import { assertEquals } from "@std/assert";
import type { Comparison } from "../../../eval/figures/compare_stored.ts";
import { turnPath } from "../../../eval/pages/api.ts";
import { countTicks } from "../../../eval/pages/charts/histogram.tsx";
import { answerOfPair } from "../../../eval/pages/compare/verdict.tsx";
import { freeId } from "../../../eval/pages/datasets/dataset_content.ts";
import { readScenario, withNewTurn } from "../../../eval/pages/datasets/scenario_editor.tsx";
import { commandLine } from "../../../eval/pages/new_run/commands.tsx";
import { createFileSource, type ReportData } from "../../../eval/pages/report/file_source.ts";
import { findNeighbour } from "../../../eval/pages/run/turn/turn_list.ts";
import { type Parameters, setSource, type Source } from "../../../eval/pages/source.ts";
import { overallText } from "../../../eval/pages/words.ts";
import type { TurnRow } from "../../../eval/run/turn_view.ts";

Deno.test("a link to a turn cannot lead the dashboard to another route", () => {
  assertEquals(turnPath("r-1", "0/12/3"), "/runs/r-1/turns/0/12/3");
  const links = ["../../../models?endpoint=http://evil.example", "0/1/0?x", "0/1/../0", "..", "0"];
  for (const place of links) assertEquals(turnPath("r-1", place), "/runs/r-1/turns/none", place);
});

Deno.test("the command line leaves nothing of a request out, and quotes what a shell would take", () => {
  const body = {
    dataset: "support",
    endpoint: "http://h/v1",
    model_ids: ["a b", "it's; rm -rf $HOME"],
    attempts: 3,
    test_name: undefined,
    history: "both",
  };
  assertEquals(
    commandLine(body)!.split(" \\\n  "),
    [
      "assay-eval run --dataset support",
      "--endpoint http://h/v1",
      "--model 'a b'",
      `--model 'it'\\''s; rm -rf $HOME'`,
      "--attempts 3",
      "--history both",
    ],
  );
  assertEquals(commandLine({ ...body, judge_votes: 3 }), undefined);
  assertEquals(commandLine({ model_id: "m", test_batch: [] }), "assay-eval run request.json");
});

const comparison = ({ decided_by = "overall", ...pair }: Record<string, unknown>) =>
  ({ decided_by, pairs: [{ reason: null, ...pair }] }) as unknown as Comparison;
const overall = { difference: 0.1, ci95: [-0.2, 0.4], p: 0.25, scenarios: 8 };

Deno.test("the sentence is about the deciding score, and the reason stands beneath it", () => {
  const open = comparison({ verdict: "inconclusive", reason: "too few", scores: { overall } });
  assertEquals(answerOfPair(open), {
    sentence: "It is not known whether the candidate is better: overall +0.100.",
    reason: "Too few.",
  });
  const chrf = { ...overall, difference: -0.3, ci95: [-0.5, -0.1], p: 0.01 };
  const worse = comparison({ verdict: "regressed", decided_by: "chrf", scores: { chrf, overall } });
  assertEquals(
    answerOfPair(worse).sentence,
    "The candidate is worse: letters in common (chrF) −0.300.",
  );
});

Deno.test("runs without the deciding score cannot be compared, and the reason is shown", () => {
  const reason = "overall cannot be compared: neither run has it";
  const { sentence, reason: why } = answerOfPair(
    comparison({ verdict: "inconclusive", reason, scores: {} }),
  );
  assertEquals([sentence, why], [
    "These runs cannot be compared.",
    "Overall cannot be compared: neither run has it.",
  ]);
});

Deno.test("a turn below the threshold never reads as if it reached it", () => {
  const show = (overall: number | null, pass_threshold = 0.7) =>
    overallText({ scores: { overall }, pass_threshold });
  assertEquals([0.698, 0.7, 0.641, null].map((value) => show(value)), [
    "0.69",
    "0.70",
    "0.64",
    "–",
  ]);
});

Deno.test("an id that is taken gets the next free number", () => {
  assertEquals(freeId("a", new Set()), "a");
  assertEquals(freeId("a", new Set(["a", "a-2", "b"])), "a-3");
});

Deno.test("a turn that is added after another was removed has an id of its own", () => {
  const turns = ["2", "3"].map((id) => ({ id, user_message: "Hi" }));
  assertEquals(withNewTurn(turns).map(({ id }) => id), ["2", "3", "3-2"]);
  assertEquals(withNewTurn(turns.slice(0, 1)).map(({ id }) => id), ["2", "2-2"]);
  assertEquals(withNewTurn([{ id: "1", user_message: "Hi" }]).at(-1)!.id, "2");
});

Deno.test("one scenario is read from JSON, and anything else is refused with the reason", () => {
  const scenario = { id: "a", interactions: [{ id: "1", user_message: "Hi", more: [1] }] };
  assertEquals(readScenario(JSON.stringify(scenario)), { scenario });
  for (
    const wrong of [
      "null",
      "[]",
      '{"id":1,"interactions":[]}',
      '{"id":"a","interactions":[]}',
      '{"id":"a","interactions":[{"id":"1"}]}',
      '{"id":"a","interactions":[{"id":"1","user_message":"x","reference_reply":2}]}',
      '{"id":"a","description":[],"interactions":[{"id":"1","user_message":"x"}]}',
      "nonsense",
    ]
  ) {
    assertEquals("reason" in readScenario(wrong), true, wrong);
  }
});

Deno.test("the marks beside counts are whole numbers, few, and reach the highest", () => {
  assertEquals(countTicks(1), [0, 1]);
  assertEquals(countTicks(5), [0, 2, 4, 6]);
  assertEquals(countTicks(8), [0, 2, 4, 6, 8]);
  assertEquals(countTicks(47), [0, 20, 40, 60]);
  for (let highest = 1; highest < 3_000; highest += 7) {
    const ticks = countTicks(highest);
    assertEquals(ticks.every(Number.isInteger) && ticks.length <= 5, true, String(highest));
    assertEquals(ticks.at(-1)! >= highest && ticks.at(-2)! < highest, true, String(highest));
  }
});

type Turn = Partial<TurnRow>;

const passed: Turn = { outcome: "passed", scores: { overall: 0.9 } };
const failed: Turn = { outcome: "failed", scores: { overall: 0 } };
const missing: Turn = { outcome: "missing", scores: { overall: null } };

/** Of attempts by their turns, each with a threshold of 0.7. */
async function standingsOf(attempts: Turn[][]): Promise<string[]> {
  const turns = attempts.flatMap((own, index) =>
    own.map((turn, place) => ({ scenario: 0, attempt_id: index + 1, turn: place, ...turn }))
  );
  const run = { run_id: "run", attempts: attempts.length };
  const report = { run, scenarios: [{ id: "s", description: "one" }], pass_threshold: 0.7, turns };
  const data = { runs: [report] } as unknown as ReportData;
  const { scenarios } = await createFileSource(data).scenarios("run", {});
  return scenarios[0]!.attempts.map(({ standing }) => standing);
}

Deno.test("an attempt of a report stands where the service says that it does", async () => {
  const standings = await standingsOf([
    [passed],
    [{ outcome: "below", scores: { overall: 0.2 } }],
    [passed, missing],
    [failed, passed],
    [passed, { outcome: "unscored", scores: { overall: null } }],
    [{ outcome: "unscored", scores: { overall: null } }],
  ]);
  assertEquals(standings, [
    "passed",
    "failed",
    "failed",
    "failed",
    "passed",
    "unscored",
  ]);
});

/** A run whose failing turns are the first ones of these scenarios, a page each. */
function showFailing(scenarios: number[]): void {
  const turns = (_id: string, { cursor }: Parameters) => {
    const at = Number(cursor ?? 0);
    const shown = scenarios.slice(at, at + 1);
    return Promise.resolve({
      turns: shown.map((scenario) => ({ scenario, attempt_id: 1, turn: 0 })),
      next_cursor: at + 1 < scenarios.length ? String(at + 1) : null,
    });
  };
  setSource({ turns } as unknown as Source);
}

const walk = (from: string, step: 1 | -1) => findNeighbour("r", { from, step, parameters: {} });

Deno.test("from a turn that passes, the next failing turn is the first, the previous the last", async () => {
  showFailing([3, 5, 8]);
  assertEquals(await walk("5/1/0", 1), "8/1/0");
  assertEquals(await walk("5/1/0", -1), "3/1/0");
  assertEquals(await walk("3/1/0", -1), undefined);
  assertEquals(await walk("8/1/0", 1), undefined);
  assertEquals(await walk("1/1/0", 1), "3/1/0");
  assertEquals(await walk("1/1/0", -1), "8/1/0");
  showFailing([]);
  assertEquals(await walk("1/1/0", -1), undefined);
});
