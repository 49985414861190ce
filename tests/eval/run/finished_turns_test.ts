import { assertEquals } from "@std/assert";
import { createStoredParts } from "../../../eval/run/execute/finished_turns.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest, failure, storedTurn } from "../../fakes/stored_runs.ts";

Deno.test("a retry scores the replies of turns whose overall is missing again, up to the first failed turn", async () => {
  const store = memoryStore();
  const request = evaluateRequest({ turns: 3 });
  const { id: parentId } = await store.createRun({ request, testName: "t" });
  const missing = { scores: { overall: null }, missing_scores: { overall: "judge" } };
  const reply = {
    finish_reason: "length",
    reasoning: "hm",
    reply_encoding: "not utf-8" as const,
    cost: { amount: 3, currency: "USD" },
  };
  await store.recordTurn(parentId, storedTurn([0, 0, 0]));
  await store.recordTurn(parentId, storedTurn([0, 0, 1], { ...missing, ...reply }));
  await store.recordTurn(parentId, storedTurn([0, 0, 2], { error: failure }));
  await store.recordTurn(parentId, storedTurn([0, 1, 0], { error: failure }));
  await store.recordTurn(parentId, storedTurn([0, 1, 1], missing));
  const { id } = await store.createRun({ request, testName: "t", parentId });
  const { replies } = createStoredParts(store, (await store.getRun(id))!);
  const content = {
    content: "reply 0.0.1",
    usage: null,
    finishReason: "length",
    reasoning: "hm",
    encoding: "not utf-8" as const,
    cost: { amount: 3, currency: "USD" },
  };
  const earlier = { latencyMs: 5, fromRun: parentId, reply: content };
  assertEquals(await replies({ scenario: 0, attempt: 0 }), new Map([[1, earlier]]));
  assertEquals(await replies({ scenario: 0, attempt: 1 }), new Map());
});
