import { assert, assertEquals } from "@std/assert";
import { soak } from "./soak/soak.ts";

/**
 * The short form; `deno task soak` is the long one. Only that one holds memory to its slope: in so
 * short a time compiled code and caches still grow, and the slope does not show a leak. Here there
 * is a bound on the size alone.
 */
Deno.test("ten seconds of traffic with faults brings no error that was not injected", async () => {
  const { sent, unexpected, samples } = await soak({
    seconds: 10,
    requestsPerSecond: 30,
    warmUpSeconds: 5,
  });
  assertEquals([...new Set(unexpected)], []);
  assert(sent > 0);
  const last = samples.at(-1);
  // The evaluation's includes the sentence encoders in its workers.
  assert(last && last.agent < 500 && last.eval < 1000, JSON.stringify(last));
});
