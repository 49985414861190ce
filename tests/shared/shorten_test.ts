import { assert, assertEquals } from "@std/assert";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { shorten } from "../../shared/shorten.ts";

Deno.test("a text is shortened to its start and the ending, and no character is cut in two", () => {
  assertEquals(shorten("abc", 3), "abc");
  assertEquals(shorten("abcdef", 4), "abcd");
  assertEquals(shorten("abcdef", 4, "…"), "abc…");
  assertEquals(shorten("ab😀", 3), "ab");
});

Deno.test("a shortened text does not keep the whole one in memory", () => {
  setFlagsFromString("--expose-gc");
  const gc: () => void = runInNewContext("gc");
  gc();
  const before = getHeapStatistics().used_heap_size;
  const kept = Array.from({ length: 20 }, (_, at) => shorten(`${at}`.repeat(2_000_000), 1_000));
  gc();
  assert(getHeapStatistics().used_heap_size - before < 10_000_000);
  assertEquals(kept.length, 20);
});
