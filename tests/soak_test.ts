import { assert, assertEquals } from "@std/assert";
import { soak } from "./soak/soak.ts";

/** The short form; `deno task soak` is the long one, which also holds memory to its slope. */
Deno.test("half a minute of traffic with faults brings no error that was not injected", async () => {
  const { sent, unexpected, samples } = await soak({
    seconds: 30,
    requestsPerSecond: 30,
    warmUpSeconds: 10,
  });
  assertEquals([...new Set(unexpected)], []);
  assert(sent > 0);
  const last = samples.at(-1);
  // The evaluation's includes the sentence encoders in its workers.
  assert(last && last.agent < 500 && last.eval < 1000, JSON.stringify(last));
});
