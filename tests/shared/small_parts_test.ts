import { getHeapStatistics } from "node:v8";
import { assert, assertEquals } from "@std/assert";
import { createYielder } from "../../shared/service/waiting.ts";
import { shorten } from "../../shared/service/text.ts";

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
