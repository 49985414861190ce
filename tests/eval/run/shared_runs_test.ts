import { assertEquals } from "@std/assert";
import {
  createSharedRuns,
  type RunWatcher,
  type Sharing,
} from "../../../eval/run/manager/shared_runs.ts";
import type { ActiveRun } from "../../../eval/run/manager/active_run.ts";
import { memoryStore } from "../../fakes/memory_store.ts";

/** What a process joins that knows the query of `mine`. */
function watched() {
  let watcher: RunWatcher | undefined;
  let moment = 0;
  const joined: string[] = [];
  const shared = createSharedRuns({
    sharing: {
      openWork: () => Promise.reject(new Error("not needed")),
      watch: (added) => void (watcher = added),
      news: () => Promise.resolve(),
      isExclusive: false,
      stop() {},
    },
    store: memoryStore(),
    runs: new Map(),
    knowsQuery: (id) => id === "mine",
    join: (ids) => void joined.push(...ids),
    now: () => moment,
  });
  shared.watch();
  return (atMs: number, ...open: { id: string; queryRemoved: boolean }[]) => {
    moment = atMs;
    joined.length = 0;
    watcher!.join(open);
    return [...joined];
  };
}

const plain = { id: "plain", queryRemoved: false };
const mine = { id: "mine", queryRemoved: true };
const others = { id: "others", queryRemoved: true };

Deno.test("a run whose query another process knows is left to it for ten seconds, the others are joined at once", () => {
  const join = watched();
  assertEquals(join(0, plain, mine, others), ["plain", "mine"]);
  assertEquals(join(9_999, others), []);
  assertEquals(join(10_000, others), ["others"]);
});

Deno.test("the ten seconds begin anew if the process that knows the query has reserved the run again", () => {
  const join = watched();
  assertEquals(join(0, others), []);
  assertEquals(join(5_000), []);
  assertEquals(join(11_000, others), []);
  assertEquals(join(21_000, others), ["others"]);
});

Deno.test("the counts of a shared run are read at most every quarter of a second", async () => {
  let moment = 0;
  let reads = 0;
  const tally = () => Promise.resolve(void reads++ as never);
  const shared = createSharedRuns({
    sharing: { isExclusive: false } as Sharing,
    store: { ...memoryStore(), tally },
    runs: new Map(),
    knowsQuery: () => false,
    join() {},
    now: () => moment,
  });
  const active = { run: { id: "shared" }, sync() {} } as unknown as ActiveRun;
  for (const at of [0, 1, 249, 250, 499, 500]) {
    moment = at;
    await shared.refresh(active);
  }
  assertEquals(reads, 3);
});
