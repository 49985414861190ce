import { assertEquals } from "@std/assert";
import { createRunWatch } from "../../../eval/sharing/run_watch.ts";
import type { RunWatcher } from "../../../eval/run/manager/shared_runs.ts";
import type { NewsListener } from "../../../eval/store/postgres/run_news.ts";
import { silentLogger } from "../../../shared/log.ts";

Deno.test("news of turns wake those who follow a run; those of its state also make a process look", async () => {
  let tell: NewsListener = () => {};
  let looked = Promise.withResolvers<void>();
  let looks = 0;
  const watch = createRunWatch({
    store: {
      openRuns() {
        looks++;
        looked.resolve();
        looked = Promise.withResolvers();
        return Promise.resolve([]);
      },
      statuses: () => Promise.resolve(new Map()),
      reserve: () => Promise.resolve(),
    },
    news: {
      tell() {},
      listen: (onNews) => void (tell = onNews),
      close: () => Promise.resolve(),
    },
    log: silentLogger,
    joins: true,
  });
  const changed: string[] = [];
  const first = looked.promise;
  watch.watch({
    active: () => ["mine"],
    reserved: () => [],
    join() {},
    ended() {},
    changed: (id) => void changed.push(id),
  });
  await first;
  const woken: string[] = [];
  const follow = [
    watch.news("mine").then(() => woken.push("turns")),
    watch.stateNews("mine").then(() => woken.push("state")),
  ];
  tell("mine", "turns");
  await follow[0];
  assertEquals([woken, changed, looks], [["turns"], ["mine"], 1]);
  const second = looked.promise;
  tell("mine", "state");
  await follow[1];
  await second;
  assertEquals([woken, changed, looks], [["turns", "state"], ["mine", "mine"], 2]);
  watch.stop();
});

Deno.test("a look reports runs that have ended elsewhere, and renews what is reserved", async () => {
  for (const joins of [true, false]) {
    const looked = Promise.withResolvers<void>();
    const calls: unknown[] = [];
    const watch = createRunWatch({
      store: {
        openRuns: () => Promise.resolve([{ id: "open", queryRemoved: false }]),
        statuses: () => Promise.resolve(new Map([["going", "running"], ["ended", "completed"]])),
        reserve: (ids) => Promise.resolve(void calls.push(["reserve", ids])),
      },
      news: { tell() {}, listen() {}, close: () => Promise.resolve() },
      log: silentLogger,
      joins,
    });
    const watcher: RunWatcher = {
      active: () => ["going", "ended", "deleted"],
      reserved: () => ["going"],
      join: (open) => void calls.push(["join", open.map(({ id }) => id)]),
      ended(id, status) {
        calls.push(["ended", id, status]);
        if (id === "deleted") setTimeout(looked.resolve);
      },
      changed() {},
    };
    watch.watch(watcher);
    await looked.promise;
    watch.stop();
    assertEquals(calls, [
      ["reserve", ["going"]],
      ["ended", "ended", "completed"],
      ["ended", "deleted", undefined],
      ...(joins ? [["join", ["open"]]] : []),
    ]);
  }
});

Deno.test("a process that has nothing reserved asks for no reservation", async () => {
  const looked = Promise.withResolvers<void>();
  let reservations = 0;
  const watch = createRunWatch({
    store: {
      openRuns: () => Promise.resolve([]),
      statuses: () => Promise.resolve(new Map()),
      reserve: () => Promise.resolve(void reservations++),
    },
    news: { tell() {}, listen() {}, close: () => Promise.resolve() },
    log: silentLogger,
    joins: true,
  });
  watch.watch({
    active: () => [],
    reserved: () => [],
    join: () => looked.resolve(),
    ended() {},
    changed() {},
  });
  await looked.promise;
  watch.stop();
  assertEquals(reservations, 0);
});
