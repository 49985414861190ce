import { assertEquals } from "@std/assert";
import { evaluateRequest, failure, storedTurn } from "../../fakes/stored_runs.ts";
import { newRun, positions, type StoreCase } from "./store_case.ts";

/** What every kind of store does with replies without a turn, and with retried runs. */
export const replyCases: Record<string, StoreCase> = {
  "a retry starts with its parent's turns up to the first failed one of each attempt": async (
    store,
  ) => {
    const parentId = await newRun(store, { turns: 4 });
    const error = failure;
    const kept = ([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]] as const)
      .map((position) => storedTurn([...position]));
    for (const turn of kept) await store.recordTurn(parentId, turn);
    for (const turn of [[0, 0, 1], [0, 2, 0], [0, 0, 3]] as const) {
      await store.recordTurn(parentId, storedTurn([...turn], { error }));
    }
    for (const turn of [[0, 0, 2], [0, 2, 1]] as const) {
      await store.recordTurn(parentId, storedTurn([...turn]));
    }
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t", parentId });
    assertEquals((await store.getRun(id))?.parentId, parentId);
    const copied = (from: string) =>
      kept.map((turn) => ({ ...turn, result: { ...turn.result, copied_from_run: from } }));
    assertEquals(await Array.fromAsync(store.turns(id)), copied(parentId));
    const again = await store.createRun({
      request: evaluateRequest(),
      testName: "t",
      parentId: id,
    });
    assertEquals(await Array.fromAsync(store.turns(again.id)), copied(parentId));
    await store.recordTurn(id, storedTurn([0, 0, 1]));
    const events = await store.turnsAfter(id, { seq: 4, limit: 9 });
    assertEquals(events.map(({ seq, turn }) => [seq, turn]), [[5, 1]]);
  },

  "a retry keeps the reply of a turn whose overall is missing, unless an earlier turn failed":
    async (store) => {
      const parentId = await newRun(store, { turns: 3 });
      const missing = { scores: { overall: null }, missing_scores: { overall: "judge" } };
      const encoding = "not utf-8" as const;
      await store.recordTurn(parentId, storedTurn([0, 0, 0]));
      await store.recordTurn(
        parentId,
        storedTurn([0, 0, 1], {
          ...missing,
          finish_reason: "length",
          reasoning: "hm",
          reply_encoding: encoding,
          cost: { amount: 3, currency: "USD" },
        }),
      );
      await store.recordTurn(parentId, storedTurn([0, 0, 2]));
      await store.recordTurn(parentId, storedTurn([0, 1, 0], { error: failure }));
      await store.recordTurn(parentId, storedTurn([0, 1, 1], missing));
      const { id } = await store.createRun({ request: evaluateRequest(), testName: "t", parentId });
      assertEquals(positions(await Array.fromAsync(store.turns(id))), [[0, 0, 0], [0, 0, 2]]);
      assertEquals(await store.pendingPositions(id), [{ scenario: 0, attempt: 0, turn: 1 }]);
      const received = {
        content: "reply 0.0.1",
        usage: null,
        latencyMs: 5,
        finishReason: "length",
        reasoning: "hm",
        encoding,
        cost: { amount: 3, currency: "USD" },
        fromRun: parentId, // it has paid
      };
      assertEquals(await store.pendingReplies(id, { scenario: 0, attempt: 0 }), [
        { scenario: 0, attempt: 0, turn: 1, ...received, tries: 0 },
      ]);
    },

  "a reply without its turn is kept until the turn or the run is finished": async (store) => {
    const id = await newRun(store, { turns: 2, attempts: 2 });
    const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
    const reply = (attempt: number, turn: number) => ({
      scenario: 0,
      attempt,
      turn,
      content: `reply ${attempt}.${turn}`,
      usage,
      latencyMs: 12,
      finishReason: "stop",
      reasoning: "hm",
      encoding: "not utf-8" as const,
    });
    await store.recordTurn(id, storedTurn([0, 0, 0]));
    for (const [attempt, turn] of [[0, 1], [1, 0]] as const) {
      await store.recordReply(id, reply(attempt, turn), { isUrgent: true });
    }
    assertEquals(await store.pendingPositions(id), [
      { scenario: 0, attempt: 0, turn: 1 },
      { scenario: 0, attempt: 1, turn: 0 },
    ]);
    const position = { scenario: 0, attempt: 0 };
    assertEquals(await store.pendingReplies(id, position), [{ ...reply(0, 1), tries: 0 }]);
    await store.countTry(id, { ...position, turn: 1 });
    assertEquals((await store.pendingReplies(id, position))[0]?.tries, 1);
    const again = { ...reply(0, 1), content: "asked again" };
    await store.recordReply(id, again, { isUrgent: true });
    assertEquals(await store.pendingReplies(id, position), [{ ...again, tries: 0 }]);
    await store.recordTurn(id, storedTurn([0, 0, 1]));
    assertEquals(await store.pendingReplies(id, position), []);
    await store.recordTurn(id, storedTurn([0, 1, 0]));
    assertEquals(await store.pendingPositions(id), []);
    await store.setStatus(id, { status: "completed" });
    assertEquals(await store.deleteRun(id), true);
  },

  "a reply that is not urgent is soon on the disk, unless its turn is": async (store) => {
    const id = await newRun(store, { attempts: 2 });
    const reply = { scenario: 0, turn: 0, content: "r", usage: null, latencyMs: 1 };
    const writes = [0, 1].map((attempt) =>
      store.recordReply(id, { ...reply, attempt }, { isUrgent: false })
    );
    await store.recordTurn(id, storedTurn([0, 0, 0]));
    await Promise.all(writes);
    assertEquals(await store.pendingPositions(id), [{ scenario: 0, attempt: 1, turn: 0 }]);
  },
};
