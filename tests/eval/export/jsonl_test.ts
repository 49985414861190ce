import { assertEquals } from "@std/assert";
import { jsonl } from "../../../eval/export/formats/jsonl.ts";
import { failedTurn, storedRun, textOf } from "../../fakes/stored_run.ts";

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
