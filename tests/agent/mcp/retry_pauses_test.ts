import { assertEquals } from "@std/assert";
import { createRetryPauses } from "../../../agent/mcp/retry_pauses.ts";

Deno.test("the pauses before a server is connected again double up to a minute", () => {
  const pauses = createRetryPauses({ now: () => 0 });
  const seconds = Array.from({ length: 8 }, () => pauses.next() / 1000);
  assertEquals(seconds, [1, 2, 4, 8, 16, 32, 60, 60]);
});

Deno.test("a session of a minute begins the pauses anew; shorter ones do not", () => {
  let now = 0;
  const pauses = createRetryPauses({ firstMs: 10, now: () => now });
  function failAfter(ms: number): number {
    pauses.begin();
    now += ms;
    return pauses.next();
  }
  assertEquals([failAfter(0), failAfter(59_999), failAfter(59_999)], [10, 20, 40]);
  assertEquals(failAfter(60_000), 10);
  now += 600_000; // without a session
  assertEquals([pauses.next(), pauses.next()], [20, 40]);
});
