import { assert, assertEquals } from "@std/assert";
import { failure, storedTurn, toTurnText } from "../../fakes/stored_runs.ts";
import { newRun, positions, type StoreCase } from "./store_case.ts";

/** What every kind of store does with turns. */
export const turnCases: Record<string, StoreCase> = {
  "turns are read in the order of the batch, whichever was stored first, over many pages": async (
    store,
  ) => {
    const id = await newRun(store);
    const all: [number, number, number][] = [];
    for (let s = 0; s < 23; s++) {
      for (let a = 0; a < 11; a++) for (let t = 0; t < 3; t++) all.push([s, a, t]);
    }
    const shuffled = all.map((_, index) => all[(index * 398) % all.length]!);
    assertEquals(new Set(shuffled).size, all.length);
    await Promise.all(shuffled.map((position) => store.recordTurn(id, storedTurn(position))));
    const turns = await Array.fromAsync(store.turns(id));
    assertEquals(positions(turns), all);
    const pages = await Array.fromAsync(store.turnPages(id));
    assertEquals(pages.flat(), turns.map(toTurnText));
  },

  "a turn is recorded once: the first one stays, and the second is reported as taken": async (
    store,
  ) => {
    const id = await newRun(store);
    const record = (agent_reply: string) =>
      store.recordTurn(id, storedTurn([0, 0, 0], { agent_reply }));
    assertEquals(await record("first"), "stored");
    assertEquals(await record("second"), "taken");
    const turns = await Array.fromAsync(store.turns(id));
    assertEquals(turns.map((turn) => turn.result.agent_reply), ["first"]);
  },

  "events are numbered in the order of storing and can be read from any number": async (store) => {
    const id = await newRun(store);
    for (const turn of [2, 0, 1]) await store.recordTurn(id, storedTurn([0, 0, turn]));
    const events = await store.turnsAfter(id, { seq: 1, limit: 10 });
    assertEquals(events.map(({ seq, turn }) => [seq, turn]), [[2, 0], [3, 1]]);
    assertEquals(JSON.parse(events[0]!.resultJson), storedTurn([0, 0, 0]).result);
  },

  "a tally counts finished and failed turns, and has the mean so far": async (store) => {
    const id = await newRun(store);
    assertEquals(await store.tally(id), {
      done: 0,
      failed: 0,
      missing: 0,
      scored: 0,
      mean: null,
      lastSeq: 0,
    });
    await store.recordTurn(id, storedTurn([0, 0, 0], { scores: { overall: 0.5 } }));
    await store.recordTurn(id, storedTurn([0, 0, 1], { scores: { overall: null } }));
    await store.recordTurn(id, storedTurn([0, 0, 2], { scores: { overall: 0 }, error: failure }));
    assertEquals(await store.tally(id), {
      done: 3,
      failed: 1,
      missing: 0,
      scored: 2,
      mean: 0.25,
      lastSeq: 3,
    });
  },

  "pages of large turns and of large events have few entries": async (store) => {
    const id = await newRun(store, { attempts: 6 });
    const agent_reply = "ä".repeat(400_000);
    for (let attempt = 0; attempt < 6; attempt++) {
      await store.recordTurn(id, storedTurn([0, attempt, 0], { agent_reply }));
    }
    const pages = await Array.fromAsync(store.turnPages(id));
    assertEquals(pages.flat().map(({ attempt }) => attempt), [0, 1, 2, 3, 4, 5]);
    const seqs: number[] = [];
    for (let page = 0; page < 6; page++) {
      const events = await store.turnsAfter(id, { seq: seqs.at(-1) ?? 0, limit: 100 });
      seqs.push(...events.map(({ seq }) => seq));
    }
    assertEquals(seqs, [1, 2, 3, 4, 5, 6]);
    assert(pages.every((page) => page.length <= 2), `${pages.map((page) => page.length)}`);
  },

  "the stored turns are counted per attempt, and can be read for one attempt": async (store) => {
    const id = await newRun(store);
    for (const position of [[0, 0, 0], [0, 0, 1], [0, 1, 0], [3, 0, 0]] as const) {
      await store.recordTurn(id, storedTurn([...position]));
    }
    assertEquals(await store.attemptCounts(id), [
      { scenario: 0, attempt: 0, turns: 2 },
      { scenario: 0, attempt: 1, turns: 1 },
      { scenario: 3, attempt: 0, turns: 1 },
    ]);
    const turns = await store.attemptTurns(id, { scenario: 0, attempt: 0 });
    assertEquals(positions(turns), [[0, 0, 0], [0, 0, 1]]);
  },
};
