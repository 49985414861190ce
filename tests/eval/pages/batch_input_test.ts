import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  type BatchInput,
  type DraftScenario,
  guessUses,
  readBatchInput,
  toBatch,
} from "../../../eval/pages/batch/batch_input.ts";
import { commandLine, shellWord, withoutOption } from "../../../eval/pages/new_run/commands.ts";
import { parseCsv } from "../../../eval/pages/batch/csv.ts";

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
