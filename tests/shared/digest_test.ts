import { assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { digestOf } from "../../shared/digest.ts";

Deno.test("a digest is the SHA-256 of all pieces together, however long they are", async () => {
  for (const pieces of [[], ["a", "b"], ["ä".repeat(700_000), "日本", "語".repeat(700_000), "."]]) {
    const expected = createHash("sha256").update(pieces.join("")).digest("hex");
    assertEquals(await digestOf(pieces), expected, `${pieces.length} pieces`);
  }
});
