import { assert, assertEquals, assertRejects } from "@std/assert";
import { startCallClock } from "../../../shared/providers/call_clock.ts";

const LONG = 600_000;

Deno.test("a clock that is stopped ends what runs under it and leaves no timer", () => {
  const clock = startCallClock(LONG, new AbortController().signal);
  clock.restart();
  clock.stop();
  assert(clock.signal.aborted);
  assertEquals(clock.isTimedOut(), false);
});

Deno.test("a clock that runs out aborts and says so", async () => {
  const clock = startCallClock(1);
  await assertRejects(() => clock.sleep(LONG));
  assertEquals([clock.signal.aborted, clock.isTimedOut()], [true, true]);
  clock.stop();
});

Deno.test("a caller that leaves ends a sleep", async () => {
  const caller = new AbortController();
  const clock = startCallClock(LONG, caller.signal);
  const asleep = clock.sleep(LONG);
  caller.abort();
  await assertRejects(() => asleep);
  assertEquals([clock.signal.aborted, clock.isTimedOut()], [true, false]);
  clock.stop();
});

Deno.test("under a caller that has left already nothing sleeps", async () => {
  const clock = startCallClock(LONG, AbortSignal.abort());
  await assertRejects(() => clock.sleep(LONG));
  clock.stop();
});

Deno.test("a clock that stands does not run out until it is restarted", async () => {
  const clock = startCallClock(1);
  clock.pause();
  await clock.sleep(20);
  assertEquals(clock.signal.aborted, false);
  clock.restart();
  await assertRejects(() => clock.sleep(LONG));
  assert(clock.isTimedOut());
  clock.stop();
});

Deno.test("a clock that is restarted for less than its limit runs out sooner, never later", () => {
  const clock = startCallClock(LONG);
  clock.restart(1_000);
  assert(clock.remainingMs() <= 1_000);
  clock.restart(2 * LONG);
  assert(clock.remainingMs() > 1_000 && clock.remainingMs() <= LONG);
  clock.stop();
});

Deno.test("a clock that is restarted again and again runs out at its total", async () => {
  const clock = startCallClock(LONG, undefined, { totalMs: 20 });
  const deadline = performance.now() + 2_000;
  while (!clock.signal.aborted && performance.now() < deadline) {
    const until = performance.now() + 3;
    while (performance.now() < until); // longer than a timer waits: each restart is before it fires
    clock.restart();
    await new Promise((resolve) => setTimeout(resolve));
  }
  assertEquals(clock.isTimedOut(), true);
  clock.stop();
});
