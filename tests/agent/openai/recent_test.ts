import { assertEquals } from "@std/assert";
import { createRecent } from "../../../agent/openai/recent.ts";

Deno.test("a value is found until it is too old", () => {
  let now = 0;
  const recent = createRecent<string>({ maxAgeMs: 10, maxCharacters: 100, now: () => now });
  recent.keep("a", "1");
  now = 9;
  assertEquals(recent.find("a"), "1");
  now = 10;
  assertEquals(recent.find("a"), undefined);
});

Deno.test("the oldest values make room, and a value that is too large is not kept", () => {
  const recent = createRecent<string>({ maxAgeMs: 10, maxCharacters: 12, now: () => 0 });
  for (const key of ["a", "b", "c"]) recent.keep(key, "1234"); // 6 characters each as JSON
  assertEquals(["a", "b", "c"].map(recent.find), [undefined, "1234", "1234"]);
  recent.keep("b", "12345");
  assertEquals(["b", "c"].map(recent.find), ["12345", undefined]);
  recent.keep("d", "x".repeat(50));
  assertEquals(["b", "d"].map(recent.find), [undefined, undefined]);
});
