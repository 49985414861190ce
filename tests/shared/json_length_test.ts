import { assert, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { jsonLength } from "../../shared/json_length.ts";

Deno.test("a value's length as JSON is exact up to the limit, and above it beyond", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 60 }), (value, limit) => {
    const exact = JSON.stringify(value).length;
    const found = jsonLength(value, limit);
    if (exact <= limit) assertEquals(found, exact);
    else assert(found > limit);
  }));
});

Deno.test("a list or an object as long as the limit has its exact length", () => {
  for (const value of [[], {}, [[]], [1, 2], { a: 1 }, { a: [], b: { c: [{}] } }]) {
    const { length } = JSON.stringify(value);
    assertEquals(jsonLength(value, length), length);
    assertEquals(jsonLength(value, length - 1), length);
  }
});

Deno.test("what comes after the limit is not read", () => {
  const unreadable = {
    get text(): string {
      throw new Error("it was read");
    },
  };
  for (const value of [{ a: "0123456789", unreadable }, [["0123456789"], unreadable]]) {
    assertEquals(jsonLength(value, 10), 11);
  }
});
