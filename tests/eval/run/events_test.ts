import { assert, assertEquals } from "@std/assert";
import { runEvents } from "../../../eval/run/events/events.ts";
import { createActiveRun } from "../../../eval/run/active_run.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";
import { until } from "../../fakes/until.ts";

/** A run without turns, and its store. */
async function startRun() {
  const inner = memoryStore();
  const created = await inner.createRun({ request: evaluateRequest(), testName: "t" });
  if (created.outcome !== "created") throw new Error(created.outcome);
  const { run } = created;
  const active = createActiveRun(run, { tally: await inner.tally(run.id), now: () => 0 });
  const runs = {
    active: () => active,
    changes: () => Promise.resolve({ next: active.changed() }),
    refresh: () => Promise.resolve(),
  };
  return { inner, run, active, runs };
}

Deno.test("a turn that is stored while the events are being read is sent next, not missed", async () => {
  const { inner, run, active, runs } = await startRun();
  let reads = 0;
  const store: RunStore = {
    ...inner,
    async turnsAfter(id, position) {
      const page = await inner.turnsAfter(id, position);
      if (++reads === 1) {
        const turn = storedTurn([0, 0, 0]);
        await inner.recordTurn(id, turn);
        active.note(turn.result);
      }
      return page;
    },
  };
  const left = new AbortController();
  const told: (string | undefined)[] = [];
  const events = runEvents({ store, runs, run, afterSeq: 0 }, left.signal);
  for await (const { event, comment } of events) {
    told.push(event ?? comment);
    if (told.length === 3) left.abort();
  }
  assertEquals(told.slice(0, 3), ["progress", "turn", "progress"]);
});

Deno.test("those who watch a run share what is read for them, and each is told of every turn", async () => {
  const { inner, run, active, runs } = await startRun();
  let reads = 0;
  const store: RunStore = {
    ...inner,
    turnsAfter(id, position) {
      reads++;
      return inner.turnsAfter(id, position);
    },
  };
  const left = new AbortController();
  const seen = Array.from({ length: 20 }, () => [] as (string | undefined)[]);
  const watchers = seen.map(async (told) => {
    const options = { store, runs, run, afterSeq: 0 };
    for await (const { event } of runEvents(options, left.signal)) told.push(event);
  });
  for (const index of [0, 1]) {
    const turn = storedTurn([0, index, 0]);
    await inner.recordTurn(run.id, turn);
    active.note(turn.result);
    const turns = (told: unknown[]) => told.filter((event) => event === "turn").length;
    await until(() => seen.every((told) => turns(told) === index + 1));
  }
  left.abort();
  await Promise.all(watchers);
  assert(reads < 2 * seen.length, `${reads} reads for ${seen.length} watchers`);
});

Deno.test("a read that fails ends the events of one watcher, and not of all who share it", async () => {
  const { inner, run, runs } = await startRun();
  await inner.recordTurn(run.id, storedTurn([0, 0, 0]));
  const all = Promise.withResolvers<void>();
  const fail = () => Promise.reject(new Error("busy"));
  let reads = 0;
  const store: RunStore = {
    ...inner,
    turnsAfter: (id, position) =>
      ++reads === 1 ? all.promise.then(fail) : inner.turnsAfter(id, position),
  };
  const left = new AbortController();
  const watchers = Array.from({ length: 3 }, async () => {
    const options = { store, runs, run, afterSeq: 0 };
    for await (const { event } of runEvents(options, left.signal)) {
      if (event === "turn") return event;
    }
  });
  await new Promise((resolve) => setTimeout(resolve)); // all of them wait for the first read
  all.resolve();
  const ends = await Promise.allSettled(watchers);
  left.abort();
  assertEquals(ends.map(({ status }) => status).toSorted(), ["fulfilled", "fulfilled", "rejected"]);
  assertEquals(reads, 2); // the others share the second one
});
