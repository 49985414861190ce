import { assertEquals } from "@std/assert";
import { createListRefresh } from "../../../agent/mcp/list_refresh.ts";

/** A refresh, and each reading as it begins; `read` is called in it. */
function refreshing(read = () => Promise.resolve()) {
  let readings = 0;
  let begun = Promise.withResolvers<void>();
  const refresh = createListRefresh(() => {
    readings++;
    begun.resolve();
    begun = Promise.withResolvers();
    return read();
  }, { pauseMs: 0 });
  return { ...refresh, next: () => begun.promise, readings: () => readings };
}

/** A reading that was due would have come before this. */
async function timersHaveRun(): Promise<void> {
  for (const _ of ["the timer", "what it started"]) {
    await new Promise((resolve) => setTimeout(resolve));
  }
}

Deno.test("changes that are announced while a list is paused are read once it goes on", async () => {
  const refresh = refreshing();
  refresh.announce();
  refresh.announce();
  const next = refresh.next();
  refresh.resume();
  await next;
  await timersHaveRun();
  assertEquals(refresh.readings(), 1);
});

Deno.test("a pause forgets the changes before it, also those that were about to be read", async () => {
  const refresh = refreshing();
  refresh.announce(); // kept for the end of the pause
  refresh.pause();
  refresh.resume();
  refresh.announce(); // about to be read
  refresh.pause();
  refresh.resume();
  await timersHaveRun();
  assertEquals(refresh.readings(), 0);
});

Deno.test("a change that is announced while the list is being read leads to one more reading, after it", async () => {
  const more = ["once", "more"];
  let atOnce = 0;
  let most = 0;
  const refresh = refreshing(async () => {
    most = Math.max(most, ++atOnce);
    if (more.shift()) refresh.announce();
    await new Promise((resolve) => setTimeout(resolve, 2));
    atOnce--;
  });
  refresh.resume();
  refresh.announce();
  for (const _ of ["first", "for one change", "for the other"]) await refresh.next();
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals([refresh.readings(), most], [3, 1]);
});
