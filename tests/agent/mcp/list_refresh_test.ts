import { assertEquals } from "@std/assert";
import { createListRefresh } from "../../../agent/mcp/list_refresh.ts";

/** A refresh, and each reading as it begins. */
function refreshing() {
  let readings = 0;
  let begun = Promise.withResolvers<void>();
  const refresh = createListRefresh(() => {
    readings++;
    begun.resolve();
    begun = Promise.withResolvers();
    return Promise.resolve();
  }, { pauseMs: 0 });
  return { ...refresh, next: () => begun.promise, readings: () => readings };
}

Deno.test("changes that are announced while a list is paused are read once it goes on", async () => {
  const refresh = refreshing();
  refresh.announce();
  refresh.announce();
  const next = refresh.next();
  refresh.resume();
  await next;
  assertEquals(refresh.readings(), 1);
});

Deno.test("a pause forgets the changes before it, also those that were about to be read", async () => {
  const refresh = refreshing();
  refresh.resume();
  refresh.announce();
  refresh.pause();
  refresh.resume();
  await new Promise((resolve) => setTimeout(resolve)); // the reading would have come before this
  assertEquals(refresh.readings(), 0);
});
