import { getHeapStatistics } from "node:v8";
import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { abortError, createYielder, lazy, untilAbort } from "../../shared/service/waiting.ts";
import { isAbort } from "../../shared/service/errors.ts";
import { shorten } from "../../shared/service/text.ts";

Deno.test("leaving is an AbortError: the caller's own reason if it is one", () => {
  const own = new DOMException("gone", "AbortError");
  assertStrictEquals(abortError(AbortSignal.abort(own)), own);
  for (const reason of [undefined, "text", new Error("x"), new DOMException("x", "TimeoutError")]) {
    assert(isAbort(abortError(AbortSignal.abort(reason))));
  }
  assert(isAbort(abortError()));
});

Deno.test("a caller that leaves does not wait for work that ignores the signal", async () => {
  const never = new Promise<never>(() => {});
  const caller = new AbortController();
  const waiting = untilAbort(never, caller.signal);
  caller.abort("bored");
  assert(isAbort(await assertRejects(() => waiting)));
  assert(isAbort(await assertRejects(() => untilAbort(never, AbortSignal.abort()))));
});

Deno.test("a caller that stays gets the result of the work", async () => {
  const { signal } = new AbortController();
  assertEquals(await untilAbort(Promise.resolve(1), signal), 1);
  assertEquals(await untilAbort(Promise.resolve(2), undefined), 2);
  await assertRejects(() => untilAbort(Promise.reject(new Error("fault")), signal), Error, "fault");
});

Deno.test("the code of a lazy function is loaded once, by its first call", async () => {
  let loads = 0;
  const double = lazy(() => {
    loads++;
    return Promise.resolve((value: number) => value * 2);
  });
  assertEquals(loads, 0);
  assertEquals(await Promise.all([double(1), double(2)]), [2, 4]);
  assertEquals(loads, 1);
});

Deno.test("a lazy function whose code could not be loaded is loaded again by the next call", async () => {
  const outcomes = [Promise.reject(new Error("no file")), Promise.resolve(() => "here")];
  const call = lazy(() => outcomes.shift()!);
  await assertRejects(() => call(), Error, "no file");
  assertEquals(await call(), "here");
});

Deno.test("a text is shortened to its start and the ending, and no character is cut in two", () => {
  assertEquals(shorten("abc", 3), "abc");
  assertEquals(shorten("abcdef", 4), "abcd");
  assertEquals(shorten("abcdef", 4, "…"), "abc…");
  assertEquals(shorten("ab😀", 3), "ab");
});

Deno.test("a shortened text does not keep the whole one in memory", () => {
  const { gc } = globalThis as unknown as { gc: () => void }; // `--expose-gc` of the task
  gc();
  const before = getHeapStatistics().used_heap_size;
  const kept = Array.from({ length: 20 }, (_, at) => shorten(`${at}`.repeat(2_000_000), 1_000));
  gc();
  assert(getHeapStatistics().used_heap_size - before < 10_000_000);
  assertEquals(kept.length, 20);
});

Deno.test("the event loop runs once ten milliseconds have passed", async () => {
  const loop = { time: 0, ranAt: 0, now: () => loop.time };
  const pause = createYielder(loop);
  let hasRun = false;
  setTimeout(() => hasRun = true, 0);
  loop.time = 9;
  await pause();
  assertEquals([pause.isDue(), hasRun], [false, false]);
  loop.time = 10;
  assertEquals(pause.isDue(), true);
  await pause();
  assertEquals([hasRun, loop.ranAt], [true, 10]);
});

Deno.test("pieces of several requests share one stretch of the event loop", async () => {
  const loop = { time: 0, ranAt: 0, now: () => loop.time };
  const [one, other] = [createYielder(loop), createYielder(loop)];
  loop.time = 12;
  await Promise.all([one(), other()]);
  assertEquals(loop.ranAt, 12);
  loop.time = 21;
  assertEquals([one.isDue(), other.isDue()], [false, false]);
  loop.time = 22; // the first has used the stretch up: the second one has no ten milliseconds more
  assertEquals([one.isDue(), other.isDue()], [true, true]);
});

Deno.test("work that starts after a quiet time has a stretch of its own", () => {
  const loop = { time: 5_000, ranAt: 0, now: () => loop.time };
  assertEquals(createYielder(loop).isDue(), false);
});
