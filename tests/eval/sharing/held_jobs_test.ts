import { assertEquals } from "@std/assert";
import { createHeldJobs } from "../../../eval/sharing/held_jobs.ts";
import type { Job } from "../../../eval/sharing/job_queue.ts";

const JOBS = ["a", "b", "c"].map((id) => ({ id }) as Job);

/** Holds three jobs until some of them are lost, and returns what was told of that. */
async function lose(
  touch: () => Promise<Set<string>>,
  { silentMs }: { silentMs: number },
): Promise<unknown> {
  const lost = Promise.withResolvers<unknown>();
  let now = 0;
  const held = createHeldJobs(
    { touch, complete: () => Promise.resolve(), release: () => Promise.resolve() },
    { now: () => now, touchMs: 1, onLost: (count, reason) => lost.resolve({ count, ...reason }) },
  );
  const signals = JOBS.map((job) => held.hold("queue", job));
  now = silentMs;
  const told = await lost.promise;
  assertEquals(signals.filter(({ aborted }) => aborted).length, JOBS.length - held.count);
  await held.close();
  return told;
}

Deno.test("conversations of which another process has some are told apart from a silent database", async () => {
  const taken = await lose(() => Promise.resolve(new Set(["b"])), { silentMs: 0 });
  assertEquals(taken, { count: 2, isSilent: false });
  const down = () => Promise.reject(new Error("connection terminated"));
  assertEquals(await lose(down, { silentMs: 60_000 }), { count: 3, isSilent: true });
});
