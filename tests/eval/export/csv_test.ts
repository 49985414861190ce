import { assert, assertEquals } from "@std/assert";
import { parse } from "csv-parse/sync";
import fc from "seeded-fast-check";
import { csv } from "../../../eval/export/formats/csv.ts";
import { jsonl } from "../../../eval/export/formats/jsonl.ts";
import {
  failedTurn,
  incompleteTurn,
  storedRun,
  type StoredScenario,
  textOf,
} from "../../fakes/stored_run.ts";
import { anyCharacter } from "../../fakes/any_character.ts";
import { read } from "../datasets/imported.ts";

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
  const bounds = incompleteTurn.overall_bounds;
  assertEquals([whole!.overall_bounds, incomplete!.overall_bounds], ["", JSON.stringify(bounds)]);
});

const LABELLED = { entails: 0.9, contradicts: 0.1, covers: 0.2, label: "partly" as const };

Deno.test("a row has the label of its agreement, and what is wrong: that contradicts, too", async () => {
  const wrong_values = ["60 days instead of 30 days", "$2 instead of $1"];
  const turns = [{ agreement: LABELLED }, { wrong_values }, {}];
  const rows = await readBack([["s", [turns]]]);
  assertEquals(rows.map(({ agreement }) => agreement), ["partly", "contradicts", ""]);
  assertEquals(rows.map((row) => row.wrong_values), ["", wrong_values.join("; "), ""]);
});

Deno.test("a row says by which methods its scores were computed", async () => {
  const score_methods = { semantic_similarity: "minilm+agreement/a3" };
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
