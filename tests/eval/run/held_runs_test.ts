import { assertEquals, assertRejects } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import { CLIENT_LEFT } from "../../../eval/run/manager/active_run.ts";
import { createHeldRuns } from "../../../eval/run/manager/held_runs.ts";
import type { RunManager } from "../../../eval/run/manager/manager.ts";
import type { StoredRun } from "../../../eval/store/runs/run_record.ts";
import type { RunStore } from "../../../eval/store/store.ts";

Deno.test("a run that waits for its turn is detached, too, and continues if a client leaves elsewhere", async () => {
  const run = { id: "r", status: "cancelled", detail: CLIENT_LEFT } as StoredRun;
  const turn = Promise.withResolvers<void>();
  const isDetachedAgain = Promise.withResolvers<void>();
  const detached: string[] = [];
  const createActive = (status: string, onDetach: () => void) => ({
    run,
    ended: Promise.resolve({ status }),
    detach() {
      detached.push(status);
      onDetach();
    },
  });
  let active: unknown;
  let isQueued = true;
  const runs = {
    isShared: true,
    waiting: () => isQueued ? turn.promise : undefined,
    active: () => active,
    resume: () => Promise.resolve(createActive("completed", isDetachedAgain.resolve)),
  } as unknown as RunManager;
  const store = {
    getRecord: () => Promise.resolve(run),
    getRun: () => Promise.resolve(run),
  } as unknown as RunStore;

  createHeldRuns({ store, runs }).detach({ run, active: undefined, endpoint: "e" });
  isQueued = false;
  active = createActive("cancelled", () => active = undefined); // it ends at once
  turn.resolve();
  await isDetachedAgain.promise;
  assertEquals(detached, ["cancelled", "completed"]);
});

Deno.test("a stream goes on, too, if another instance was the first to resume a run whose client left", async () => {
  const lost = { id: "r", status: "cancelled", detail: CLIENT_LEFT } as StoredRun;
  const client = new AbortController().signal;
  const held: AbortSignal[] = [];
  const runs = {
    isShared: true,
    isStopping: false,
    waiting: () => undefined,
    active: () => undefined,
    resume: () => Promise.resolve({ hold: (client: AbortSignal) => held.push(client) }),
  };
  const regain = (now: Partial<StoredRun>) => {
    const store = { getRecord: () => Promise.resolve(now), getRun: () => Promise.resolve(now) };
    return createHeldRuns({
      store: store as unknown as RunStore,
      runs: runs as unknown as RunManager,
    }).regain({ run: lost, active: undefined, endpoint: "e" }, client);
  };
  assertEquals(await regain({ ...lost, status: "running", detail: null }), true);
  assertEquals(held, [client]);
  assertEquals(await regain({ ...lost, detail: "cancelled by a caller" }), false);
  runs.isStopping = true;
  assertEquals(await regain({ ...lost, status: "running", detail: null }), false);
  assertEquals(await regain(lost), true); // no other instance has resumed it
});

Deno.test("a stream follows a run that another instance has resumed if this one may run no more", async () => {
  const lost = { id: "r", status: "cancelled", detail: CLIENT_LEFT } as StoredRun;
  const runs = {
    isShared: true,
    waiting: () => undefined,
    active: () => undefined,
    resume: () => Promise.reject(new AppError(503, "overloaded", "too many runs")),
  };
  const regain = (now: StoredRun) => {
    const store = { getRecord: () => Promise.resolve(now), getRun: () => Promise.resolve(now) };
    return createHeldRuns({
      store: store as unknown as RunStore,
      runs: runs as unknown as RunManager,
    }).regain({ run: lost, active: undefined, endpoint: "e" }, new AbortController().signal);
  };
  assertEquals(await regain({ ...lost, status: "running", detail: null }), true);
  await assertRejects(() => regain(lost), AppError, "too many runs"); // none works on it
});

Deno.test("who waits for a queued run that is deleted at another instance is told so with 409", async () => {
  const runs = { isShared: true, waiting: () => undefined, active: () => undefined };
  const gone = () => Promise.resolve(undefined);
  const held = createHeldRuns({
    store: { getRecord: gone, getRun: gone } as unknown as RunStore,
    runs: runs as unknown as RunManager,
  });
  const run = { id: "r", status: "running" } as StoredRun;
  const error = await assertRejects(
    () => held.hold({ run, active: undefined, endpoint: "e" }, new AbortController().signal),
    AppError,
    "it was ended or deleted meanwhile",
  );
  assertEquals([error.status, error.code], [409, "conflict"]);
});
