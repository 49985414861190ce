import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Comparison } from "../../../eval/figures/compare_stored.ts";
import { turnPath } from "../../../eval/pages/api.ts";
import { createBatchDraft } from "../../../eval/pages/batch/batch_draft.ts";
import {
  type BatchInput,
  type DraftScenario,
  guessUses,
  readBatchInput,
  toBatch,
} from "../../../eval/pages/batch/batch_input.ts";
import { parseCsv } from "../../../eval/pages/batch/csv.ts";
import { countTicks } from "../../../eval/pages/charts/histogram.tsx";
import { answerOfPair } from "../../../eval/pages/compare/verdict.tsx";
import { freeId } from "../../../eval/pages/datasets/dataset_content.ts";
import { readScenario, withNewTurn } from "../../../eval/pages/datasets/scenario_editor.tsx";
import { toUpload } from "../../../eval/pages/datasets/upload.ts";
import { commandLine, shellWord, withoutOption } from "../../../eval/pages/new_run/commands.tsx";
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

const scenariosOf = (input: BatchInput) => "scenarios" in input ? input.scenarios : input;

Deno.test("CSV is read with quotes, any separator and any line end", () => {
  assertEquals(parseCsv('a,b\r\n"x ""y"", z","1\n2"\n').rows, [["a", "b"], ['x "y", z', "1\n2"]]);
  assertEquals(parseCsv("a;b\n1,5;2").rows, [["a", "b"], ["1,5", "2"]]);
  assertEquals(parseCsv("\ufeffa\tb\n\n1\t").rows, [["a", "b"], ["1", ""]]);
  assertEquals(parseCsv("a,b\n,\n1,2\n, \n").rows, [["a", "b"], ["1", "2"]]);
  assertEquals(parseCsv('a,b\n"never closed,\n2'), {
    rows: [["a", "b"], ["never closed,\n2"]],
    unclosed: 2,
  });
});

Deno.test("a batch may be a request, scenarios, lines of them, turns or a table", () => {
  const scenario = { id: "s", interactions: [{ id: "1", user_message: "Hi" }] };
  const text = JSON.stringify(scenario);
  assertEquals(scenariosOf(readBatchInput(text)), [scenario]);
  assertEquals(scenariosOf(readBatchInput(`[${text}]`)), [scenario]);
  assertEquals(scenariosOf(readBatchInput(`${text}\n${text}\n`)), [scenario, scenario]);
  const request = readBatchInput(`{"test_batch":${text},"model_id":"m"}`);
  assertEquals(request, { kind: "json", scenarios: [scenario], request: { model_id: "m" } });
  assertEquals(scenariosOf(readBatchInput('{"user_message":"Hi"}')), [{
    id: "1",
    interactions: [{ id: "1", user_message: "Hi" }],
  }]);
  assertEquals(readBatchInput("question,answer\na,b").kind, "csv");
  assertEquals(readBatchInput(" \n").kind, "empty");
});

Deno.test("a request may name a dataset instead of a batch, and a scenario may have that field", () => {
  const request = { dataset: "shop@1a2b", judge_votes: 3 };
  assertEquals(readBatchInput(JSON.stringify(request)), { kind: "json", scenarios: [], request });
  const scenario = { id: "a", dataset: "shop", interactions: [] };
  assertEquals(scenariosOf(readBatchInput(JSON.stringify(scenario))), [scenario]);
});

Deno.test("a batch that cannot be used says why", () => {
  const reasonOf = (text: string) => {
    const input = readBatchInput(text);
    return input.kind === "wrong" ? input.reason : `it is ${input.kind}`;
  };
  assertStringIncludes(reasonOf('{"a":'), "not JSON");
  assertStringIncludes(reasonOf('{"interactions":[]}\n{'), "Line 2 is not JSON");
  assertStringIncludes(reasonOf("[1]"), "scenarios with interactions");
  assertStringIncludes(reasonOf("one word"), "neither JSON nor a table");
});

Deno.test("columns are guessed by their names, and rows of one conversation are its turns", () => {
  const columns = ["Conversation ID", "question", "expected answer", "intent", "price"];
  const uses = guessUses(columns);
  assertEquals(uses, ["scenario", "message", "reference", "metadata", ""]);
  const rows = [["a", "one", "1", "x", "9"], ["a", "two", "", "", ""], ["", "three", "3", "y", ""]];
  assertEquals(toBatch({ columns, rows }, uses), [
    {
      id: "a",
      interactions: [
        { id: "1", user_message: "one", reference_reply: "1", reference_metadata: { intent: "x" } },
        { id: "2", user_message: "two" },
      ],
    },
    {
      id: "3",
      interactions: [
        {
          id: "1",
          user_message: "three",
          reference_reply: "3",
          reference_metadata: { intent: "y" },
        },
      ],
    },
  ]);
});

Deno.test("an expected answer is the reference, also if what a model answered stands before it", () => {
  const uses = guessUses(["input", "output", "expected"]);
  assertEquals(uses, ["message", "", "reference"]);
  assertEquals(guessUses(["prompt", "reply"]), ["message", "reference"]);
});

Deno.test("a row keeps its id and its system prompt, as the service reads them", () => {
  const { rows: [columns = [], ...rows] } = parseCsv(
    "id,system_prompt,question,answer\nq1,Be brief.,a,b\n4,,c,d\nq1,,e,f\n,,g,h",
  );
  assertEquals(
    toBatch({ columns, rows }, guessUses(columns))
      .map(({ id, system_prompt, interactions }) => [id, system_prompt, interactions.length]),
    [["q1", "Be brief.", 1], ["4", undefined, 1], ["3", undefined, 1], ["row-4", undefined, 1]],
  );
});

Deno.test("a system prompt is not guessed to be the message, and the first in a conversation counts", () => {
  const columns = ["conversation", "id", "System prompt", "text"];
  const uses = guessUses(columns);
  assertEquals(uses, ["scenario", "", "system", "message"]);
  const rows = [["a", "1", "", "Hi"], ["a", "2", "Be brief.", "Who?"], ["a", "3", "Be kind.", "?"]];
  assertEquals(toBatch({ columns, rows }, uses).map((one) => one.system_prompt), ["Be brief."]);
  assertEquals(guessUses(["id", "question"]), ["id", "message"]);
});

Deno.test("a system prompt is read from the CSV file of a run, and from a turn by itself", () => {
  const columns = ["run_id", "scenario_id", "attempt_id", "user_message", "system_prompt"];
  const rows = [["r", "a", "1", "Hi", "'- Be brief."]];
  const [scenario] = toBatch({ columns, rows }, guessUses(columns));
  assertEquals(scenario!.system_prompt, "- Be brief.");
  const turn = '{"user_message":"Hi","system_prompt":"Be brief."}';
  assertEquals(scenariosOf(readBatchInput(turn)), [{
    id: "1",
    system_prompt: "Be brief.",
    interactions: [{ id: "1", user_message: "Hi" }],
  }]);
});

Deno.test("commands quote what a shell would take for something else", () => {
  assertEquals(shellWord("a/b:c-1"), "a/b:c-1");
  assertEquals(shellWord("it's; rm -rf $HOME"), `'it'\\''s; rm -rf $HOME'`);
  const line = commandLine({
    endpoint: "http://h/v1",
    model_id: "a b",
    attempts: 3,
    test_name: "",
  });
  assertStringIncludes(line!, "--model 'a b' \\\n  --attempts 3");
});

Deno.test("the command line leaves nothing of a request out", () => {
  const body = { endpoint: "http://h/v1", model_id: "m", history: "both", test_batch: [] };
  assertStringIncludes(commandLine(body)!, "assay-eval run batch.json \\\n");
  assertStringIncludes(commandLine(body)!, "--history both");
  assertStringIncludes(commandLine({ ...body, protocol: "agent" })!, "--protocol agent");
  const judged = { ...body, rubric: "Be strict.", judge_votes: 3 };
  assertEquals(commandLine(judged), "assay-eval run request.json");
  const stored = { ...judged, test_batch: undefined, dataset: "support" };
  assertEquals(commandLine(stored), undefined);
  assertEquals(withoutOption(stored), ["rubric", "judge_votes"]);
});

Deno.test("a row without a conversation does not join the one that has its number as a name", () => {
  const { rows: [columns = [], ...rows] } = parseCsv("scenario,message\n2,a\n,b\n2,c");
  assertEquals(
    toBatch({ columns, rows }, ["scenario", "message"]).map(({ id, interactions }) => [
      id,
      interactions.map(({ user_message }) => user_message),
    ]),
    [["2", ["a", "c"]], ["row-2", ["b"]]],
  );
});

Deno.test("of the CSV file of a run, the first attempt of each scenario is read, as the service does", () => {
  const columns = ["run_id", "scenario_id", "attempt_id", "user_message"];
  const rows = [["a", "1", "Hi"], ["a", "1", "'- 1?"], ["a", "2", "Hi"], ["b", "2", "Who?"]];
  const messagesOf = (batch: DraftScenario[]) =>
    batch.map(({ interactions }) => interactions.map(({ user_message }) => user_message));
  const ofRun = { columns, rows: rows.map((row) => ["r1", ...row]) };
  assertEquals(messagesOf(toBatch(ofRun, ["", "scenario", "", "message"])), [
    ["Hi", "- 1?"],
    ["Who?"],
  ]);
  const other = { columns: columns.slice(1), rows };
  assertEquals(messagesOf(toBatch(other, ["scenario", "", "message"])), [
    ["Hi", "'- 1?", "Hi"],
    ["Who?"],
  ]);
});

Deno.test("a table with two columns of one name is refused, as the service does", () => {
  assertEquals(readBatchInput("message,intent,intent\nHi,a,b"), {
    kind: "wrong",
    reason: "There are several columns intent; name them differently.",
  });
  assertEquals(readBatchInput("message,reference,,\nHi,Ho,,").kind, "csv");
});

Deno.test("a table with a quote that is never closed is refused, unless the file goes on", () => {
  const text = 'question,answer\n"one,\ntwo",a\n"three,b\nfour,c\n';
  assertEquals(readBatchInput(text), {
    kind: "wrong",
    reason: "The quote that begins in line 4 is never closed.",
  });
  assertEquals(readBatchInput(text, { isBeginning: true }).kind, "csv");
});

const comparison = ({ decided_by = "overall", ...pair }: Record<string, unknown>) =>
  ({ decided_by, pairs: [{ reason: null, ...pair }] }) as unknown as Comparison;
const overall = { difference: 0.1, ci95: [-0.2, 0.4], p: 0.25, scenarios: 8 };

Deno.test("the sentence is about the deciding score, and the reason stands beneath it", () => {
  const open = comparison({ verdict: "inconclusive", reason: "too few", scores: { overall } });
  assertEquals(answerOfPair(open), {
    sentence: "It is not known whether the candidate is better: overall +0.100.",
    reason: "Too few.",
    figures: ["+0.100, 95% interval −0.200 to +0.400 (p 0.25), over 8 scenarios"],
  });
  const chrf = { ...overall, difference: -0.3, ci95: [-0.5, -0.1], p: 0.01 };
  const worse = comparison({ verdict: "regressed", decided_by: "chrf", scores: { chrf, overall } });
  assertEquals(
    answerOfPair(worse).sentence,
    "The candidate is worse: letters in common (chrF) −0.300.",
  );
});

Deno.test("a difference that is not known is shown by its bounds", () => {
  const scores = { overall: { ...overall, difference: null, bounds: { difference: [-0.1, 0.3] } } };
  const open = comparison({ verdict: "inconclusive", reason: "values are missing", scores });
  assertEquals(
    answerOfPair(open).sentence,
    "It is not known whether the candidate is better: overall −0.100 to +0.300.",
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

Deno.test("a table is sent as the scenarios that were shown, other texts as they are", () => {
  const draft = createBatchDraft();
  draft.setText("question;answer;intent\nHi;Hello;greeting");
  const { file, parameters } = toUpload(draft, { file: undefined, format: undefined });
  assertEquals(parameters, { format: "jsonl" });
  assertEquals(JSON.parse(file.content as string), {
    id: "1",
    interactions: [{
      id: "1",
      user_message: "Hi",
      reference_reply: "Hello",
      reference_metadata: { intent: "greeting" },
    }],
  });
  assertEquals(
    toUpload(draft, { file: undefined, format: "langsmith" }),
    {
      file: { content: draft.text.value, type: "application/octet-stream" },
      parameters: { format: "langsmith" },
    },
  );
});

Deno.test("of a large table the columns are named", () => {
  const draft = createBatchDraft();
  draft.setText(
    "conversation,system_prompt,question,answer,intent,other\n1,Be brief.,Hi,Hello,greeting,x\n",
  );
  const file = new File([draft.text.value], "large.csv");
  assertEquals(toUpload(draft, { file, format: undefined }).parameters, {
    format: undefined,
    "column.scenario_id": "conversation",
    "column.system_prompt": "system_prompt",
    "column.user_message": "question",
    "column.reference_reply": "answer",
    "column.metadata.intent": "intent",
  });
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
  const report = { run, scenarios: [{ id: "s", description: "" }], pass_threshold: 0.7, turns };
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
