import { assertEquals } from "@std/assert";
import { createRecent } from "../../../agent/run/recent.ts";
import { shiftClock } from "../../fakes/shifted_clock.ts";

const place = (...keys: string[]) => ({ caller: "ada", keys });

Deno.test("a value is found until it is too old", () => {
  let now = 0;
  const recent = createRecent<string>({ maxAgeMs: 10, maxCharacters: 100, now: () => now });
  recent.keep("1", place("a"));
  now = 9;
  assertEquals(recent.find("a", "ada"), "1");
  now = 10;
  assertEquals(recent.find("a", "ada"), undefined);
});

Deno.test("the oldest values make room, and a value that is too large is not kept", () => {
  const recent = createRecent<string>({ maxAgeMs: 10, maxCharacters: 12, now: () => 0 });
  const find = (key: string) => recent.find(key, "ada");
  for (const key of ["a", "b", "c"]) recent.keep("1234", place(key)); // 6 characters each as JSON
  assertEquals(["a", "b", "c"].map(find), [undefined, "1234", "1234"]);
  recent.keep("12345", place("b"));
  assertEquals(["b", "c"].map(find), ["12345", undefined]);
  recent.keep("x".repeat(50), place("d"));
  assertEquals(["b", "d"].map(find), [undefined, undefined]);
});

Deno.test("a value with several keys counts once, and leaves with all of them", () => {
  const recent = createRecent<string>({ maxAgeMs: 10, maxCharacters: 12, now: () => 0 });
  const find = (key: string) => recent.find(key, "ada");
  recent.keep("1234", place("a", "b", "c"));
  recent.keep("5678", place("d"));
  assertEquals(["a", "b", "c", "d"].map(find), ["1234", "1234", "1234", "5678"]);
  recent.keep("9", place("c"));
  assertEquals(["a", "b", "c", "d"].map(find), [undefined, undefined, "9", "5678"]);
  assertEquals(recent.find("d", "bob"), undefined);
});

Deno.test("the caller that holds the most makes room, whoever needs it", () => {
  const recent = createRecent<string>({ maxAgeMs: 10, maxCharacters: 24, now: () => 0 });
  recent.keep("1234", { caller: "bob", keys: ["b"] }); // the oldest of all
  for (const key of ["a1", "a2", "a3"]) recent.keep("1234", place(key));
  recent.keep("5678", { caller: "bob", keys: ["c"] });
  assertEquals(["b", "c"].map((key) => recent.find(key, "bob")), ["1234", "5678"]);
  const found = ["a1", "a2", "a3"].map((key) => recent.find(key, "ada"));
  assertEquals(found, [undefined, "1234", "1234"]);
});

Deno.test("values that are too old make room before others have to", () => {
  let now = 0;
  const recent = createRecent<string>({ maxAgeMs: 10, maxCharacters: 12, now: () => now });
  recent.keep("1234", { caller: "bob", keys: ["b"] }); // 6 characters as JSON
  now = 10;
  recent.keep("1", place("a1"));
  recent.keep("2", place("a2"));
  recent.keep("3", place("a3"));
  const found = ["a1", "a2", "a3"].map((key) => recent.find(key, "ada"));
  assertEquals(found, ["1", "2", "3"]);
});

Deno.test("a value does not age when the clock is set", () => {
  using clock = shiftClock(0);
  const recent = createRecent<string>({ maxAgeMs: 60_000, maxCharacters: 100 });
  recent.keep("1", place("a"));
  clock.set(1);
  assertEquals(recent.find("a", "ada"), "1");
});
