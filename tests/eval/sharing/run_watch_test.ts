import { assertEquals } from "@std/assert";
import { createRunWatch } from "../../../eval/sharing/run_watch.ts";
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
