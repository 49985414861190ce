import { assert, assertEquals } from "@std/assert";
import { parse } from "csv-parse/sync";
import fc from "seeded-fast-check";
import { priceTarget } from "../../../eval/ask/prices.ts";
import type { Target } from "../../../eval/ask/target.ts";
import { csv } from "../../../eval/report/formats/csv.ts";
import { json, jsonl } from "../../../eval/report/formats/json.ts";
import { EvaluateResponse } from "../../../eval/test/evaluate_response.ts";
import { anyCharacter } from "../../fakes/any_character.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import { evalService, evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";
import { fakeJudge, scoringPorts } from "../../fakes/scoring_ports.ts";
import {
  failedTurn,
  incompleteTurn,
  storedRun,
  type StoredScenario,
  textOf,
} from "../../fakes/stored_run.ts";
import { read } from "../test/datasets/imported.ts";

async function readBack(batch: StoredScenario[]): Promise<Record<string, string>[]> {
  return parse(await textOf(csv.write(storedRun(batch))), {
    columns: true,
    bom: true,
  });
}

Deno.test("a CSV file begins with a byte order mark, unless it is switched off", async () => {
  const source = storedRun([["s", [[{}]]]]);
  const text = await textOf(csv.write(source));
  const plain = await textOf(csv.write({ ...source, hasBom: false }));
  assertEquals(text, `\ufeff${plain}`);
});

Deno.test("a CSV reader finds one row per turn, with its position, its texts and its scores", async () => {
  const rows = await readBack([
    ["first", [[{}, { scores: { overall: 0.25, judge: null } }], [{}, failedTurn]]],
    ["second", [[{ agent_reply: 'says "hi",\nthen leaves' }]]],
  ]);
  assertEquals(rows.length, 5);
  assertEquals(rows.map((row) => [row.scenario_id, row.attempt_id, row.turn]), [
    ["first", "1", "0"],
    ["first", "1", "1"],
    ["first", "2", "0"],
    ["first", "2", "1"],
    ["second", "1", "0"],
  ]);
  assertEquals([rows[1]!.overall, rows[1]!.judge], ["0.25", ""]);
  assertEquals([rows[3]!.error_code, rows[3]!.overall], ["provider_timeout", "0"]);
  assertEquals(rows[4]!.agent_reply, 'says "hi",\nthen leaves');
});

Deno.test("what a run was told by system prompts is in its CSV and JSONL, and is read again", async () => {
  const source = storedRun([["s", [[{}]]], ["t", [[{}]]]]);
  const [first, second] = source.run.request.test_batch;
  const plain = await textOf(csv.write(source));
  assertEquals(plain.includes("system_prompt"), false);
  const told = [{ ...first!, system_prompt: "- Be brief." }, second!];
  const run = { ...source.run, request: { ...source.run.request, test_batch: told } };
  const { scenarios } = await read(await textOf(csv.write({ ...source, run })));
  assertEquals(scenarios.map((one) => one.system_prompt), ["- Be brief.", undefined]);
  const lines = (await textOf(jsonl.write({ ...source, run }))).trim().split("\n");
  assertEquals(
    lines.map((line) => JSON.parse(line).system_prompt),
    ["- Be brief.", undefined],
  );
});

Deno.test("a row says in what the reply differs", async () => {
  const rows = await readBack([["s", [[{}, { differs_in: ["date", "number"] }]]]]);
  assertEquals(rows.map(({ differs_in }) => differs_in), ["", "date number"]);
});

Deno.test("a row says which scores are missing, and why", async () => {
  const [whole, incomplete] = await readBack([["s", [[{}, incompleteTurn]]]]);
  assertEquals(whole!.missing_scores, "");
  assertEquals(JSON.parse(incomplete!.missing_scores!), {
    judge: "judge_unavailable",
    overall: "without judge",
  });
  assertEquals([incomplete!.judge, incomplete!.overall], ["", ""]);
});

const LABELLED = { entails: 0.9, contradicts: 0.1, covers: 0.2, label: "partly" as const };

Deno.test("a row has the label of its agreement, and what is wrong: that contradicts, too", async () => {
  const wrong_values = ["60 days instead of 30 days", "$2 instead of $1"];
  const turns = [{ agreement: LABELLED }, { wrong_values }, {}];
  const rows = await readBack([["s", [turns]]]);
  assertEquals(rows.map(({ agreement }) => agreement), ["partly", "contradicts", ""]);
  assertEquals(rows.map((row) => row.wrong_values), ["", wrong_values.join("; "), ""]);
  assertEquals(rows[1]!.why, `wrong value: ${wrong_values.join(", ")}`);
});

Deno.test("a row says by which methods its scores were computed", async () => {
  const score_methods = { semantic_similarity: "meaning/m3" };
  const rows = await readBack([["s", [[{}, { score_methods }]]]]);
  assertEquals(rows.map((row) => row.score_methods), ["", JSON.stringify(score_methods)]);
});

for (const start of ["=", "+", "-", "@", "\t", "\r", "\n", "  =", "＝", "＋", "－", "＠"]) {
  Deno.test(`a cell that begins with ${JSON.stringify(start)} is no formula`, async () => {
    const text = `${start}HYPERLINK("http://x.example","y")`;
    const [row] = await readBack([[text, [[{ id: text, agent_reply: text }]]]]);
    for (const cell of [row!.scenario_id, row!.interaction_id, row!.agent_reply]) {
      assertEquals(cell, `'${text}`);
    }
  });
}

Deno.test("a score named after a caller's own metadata key is no formula either", async () => {
  const text = await textOf(csv.write(storedRun([["s", [[{ scores: { "=cmd_match": 1 } }]]]])));
  assert(text.split("\r\n")[0]!.endsWith(`,"'=cmd_match"`));
});

Deno.test("numbers stay numbers", async () => {
  const text = await textOf(csv.write(storedRun([["s", [[{ scores: { overall: 0.5 } }]]]])));
  assert(text.endsWith(",0.5\r\n"), text);
});

Deno.test("whatever a reply holds, the reader gets it back in its own cell", async () => {
  await fc.assert(fc.asyncProperty(fc.string({ unit: anyCharacter }), async (reply) => {
    const [row] = await readBack([["s", [[{ agent_reply: reply }]]]]);
    const kept = reply.replaceAll("\0", "");
    assertEquals(row!.agent_reply!.replace(/^'/, ""), kept.replace(/^'/, ""));
    assertEquals(row!.overall, "0.9");
  }));
});

Deno.test("the JSON export has the shape of an answer, with every attempt in its place", async () => {
  const source = storedRun([["first", [[{}, failedTurn], [{}, {}]]], ["second", [[{}], [{}]]]]);
  const result = EvaluateResponse.parse(JSON.parse(await textOf(json.write(source))));
  assertEquals(result.message, "Evaluation completed: 1 of 6 interactions failed");
  const [first, second] = result.results.scenarios;
  assertEquals(first!.attempts.map(({ interactions }) => interactions.length), [2, 2]);
  assertEquals(first!.attempts[0]!.average_scores, { overall: 0.45 });
  assertEquals([second!.scenario_id, second!.attempts.length], ["second", 2]);
});

Deno.test("a run that ended early does not say that it is complete", async () => {
  const source = storedRun([["s", [[{}]]]], { status: "cancelled", totalTurns: 10 });
  const { message } = JSON.parse(await textOf(json.write(source)));
  assertEquals(message, "Evaluation cancelled: 1 of 10 interactions completed");
});

Deno.test("every line is a turn with its position and all of its fields", async () => {
  const reply = "two\nlines \u2028 and a lone \ud800";
  const source = storedRun([["s", [[{ agent_reply: reply, customer: 7 }, failedTurn]]]]);
  const lines = (await textOf(jsonl.write(source))).split("\n");
  assertEquals(lines.pop(), "");
  const [first, second] = lines.map((line) => JSON.parse(line));
  assertEquals(first.run_id, "run-1");
  assertEquals([first.scenario_id, first.attempt_id, first.turn], ["s", 1, 0]);
  assertEquals([first.agent_reply, first.customer], [reply, 7]);
  assertEquals([second.turn, second.error.code], [1, "provider_timeout"]);
});

Deno.test("a caller's own field cannot replace the turn's position", async () => {
  const source = storedRun([["s", [[{ scenario_id: "forged", run_id: "forged" }]]]]);
  const line = JSON.parse(await textOf(jsonl.write(source)));
  assertEquals([line.run_id, line.scenario_id], ["run-1", "s"]);
});

const call = { name: "search", args: { q: "x" }, status: "ok" as const, ms: 1 };

/** A model that is priced, calls a tool, answers later turns worse, and fails once. */
function target(): Target {
  let failed = 0;
  const usage = { input_tokens: 1_000_000, output_tokens: 0, total_tokens: 1_000_000 };
  const model: Target = {
    ask(conversation) {
      const isAfterReference = conversation.some(({ content }) => content === "the reference");
      const isFailing = conversation.length > 1 && !isAfterReference && failed++ === 0;
      if (isFailing) return Promise.reject(providerError(500));
      const later = isAfterReference ? "the reference" : "no idea";
      const content = conversation.length === 1 ? "a reference" : later;
      return Promise.resolve({ content, usage, toolCalls: [call] });
    },
  };
  return priceTarget(model, { input: 2, output: 0, currency: "EUR" });
}

/** A run that uses every feature, exported by a path's query. */
async function exportWith(): Promise<(query: string) => Promise<string>> {
  const { judge } = fakeJudge((_question, call) =>
    JSON.stringify({ reason: "so", grade: 5 + call % 3 })
  );
  const { service } = evalService(undefined, {
    target: target(),
    scoring: scoringPorts({ judge }),
  });
  const send = (path: string, method = "GET", body?: unknown) =>
    service(
      new Request(`http://127.0.0.1:8080${path}`, {
        method,
        ...(body !== undefined && {
          body: JSON.stringify(body),
          headers: { "content-type": "application/json" },
        }),
      }),
    );
  const test_batch = ["a", "b", "c"].map((id) => ({
    id,
    interactions: ["1", "2"].map((turn) => ({
      id: turn,
      user_message: `${id} ${turn}?`,
      reference_reply: "the reference",
      reference_tools: [{ name: turn === "1" ? "search" : "other" }],
      checks: [{ type: "contains", value: "reference", name: "says it" }],
    })),
  }));
  await send("/datasets/support", "PUT", { test_batch });
  const { test_batch: _, ...named } = evaluateBody({ dataset: "support" });
  const options = { attempts: 2, rubric: "Be fair.", judge_votes: 2 };
  const { run_id } = await evaluateWith(service, { ...named, ...options });
  for (const [author, value] of [["ann", 0.8], ["ben", 0.6]] as const) {
    for (const scenario of [0, 1]) {
      const path = `/runs/${run_id}/turns/${scenario}/1/0/grade`;
      await send(path, "PUT", { value: value + scenario / 10, author });
    }
  }
  return async (query) => {
    const response = await send(`/runs/${run_id}/export?${query}`);
    assert(response.ok, `${query}: ${response.status}`);
    return await response.text();
  };
}

/** By the query of an export, what it shows of each feature. */
const SHOWN: Record<string, Record<string, RegExp>> = {
  "format=json": {
    dataset: /"dataset":"support@[0-9a-f]{32}"/,
    checks: /"check_counts":\[\{"name":"says it"/,
    tools: /"tool_calls":\[\{"name":"search"/,
    cost: /"cost":\{"amount":\d+,"currency":"EUR","turns":/,
    grades: /"grades":\[/,
    agreement: /"agreement":\{.*"alpha"/,
  },
  "format=jsonl": {
    dataset: /"dataset":"support@/,
    checks: /"check_results":\[/,
    tools: /"tool_calls":\[\{"name":"search"/,
    cost: /"cost":\{"amount":2,"currency":"EUR"\}/,
    grades: /"grades":\[/,
  },
  "format=jsonl&rows=scores": {
    dataset: /"dataset":"support@/,
    checks: /"score":"checks"/,
    tools: /"score":"tools"/,
    agreement: /"score":"judge".*"agreement":\{.*"alpha"/,
  },
  "format=csv": {
    dataset: /support@[0-9a-f]{32}/,
    checks: /"failed_checks","check_results"/,
    tools: /"reference_tools","tool_calls"/,
    cost: /"cost","cost_currency"/,
    grades: /"grade","grades"/,
  },
  "format=csv&rows=scores": {
    dataset: /"dataset"/,
    agreement: /"agreement_of_people","agreement_with_people"/,
  },
  "format=junit": {
    dataset: /<property name="dataset" value="support@/,
    checks: /check not met: says it/,
    tools: /tool/,
    cost: /<property name="run_cost" value="\d+ EUR"/,
    grades: /graded 0\.8 by ann/,
    agreement: /<property name="agreement_of_people"/,
  },
  "format=markdown": {
    dataset: /- Dataset `support@[0-9a-f]{32}`/,
    checks: /### Failed checks/,
    tools: /- Turns whose tool calls are not those expected: \d+/,
    spread: /- Of the spread of overall, \d+ % is between scenarios, \d+ % between attempts/,
    cost: /- Cost \d+ EUR/,
    grades: /Graded by people: 2 turns, 4 grades/,
    agreement: /### Agreement/,
  },
  "format=html": {
    dataset: /"dataset":"support@/,
    checks: /"check_counts":\[/,
    tools: /"tool_calls":\[/,
    spread: /"spread":\{"scenarios":/,
    cost: /"currency":"EUR"/,
    grades: /"grades":\[/,
    agreement: /"agreement":\{/,
  },
};

Deno.test("every export shows what its format can of each feature", async () => {
  const read = await exportWith();
  for (const [query, features] of Object.entries(SHOWN)) {
    const text = await read(query);
    for (const [feature, pattern] of Object.entries(features)) {
      assert(pattern.test(text), `${query} does not show ${feature}: ${text.slice(0, 2_000)}`);
    }
  }
});
