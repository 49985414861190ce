import { assertEquals } from "@std/assert";
import { createRedactor } from "../../shared/redaction.ts";

Deno.test("a long text without an address is read once", () => {
  const text = "a.".repeat(500_000); // looking for the end of a scheme at each letter: an hour
  assertEquals(createRedactor([])(text), text);
});

Deno.test("an address loses its user, query and fragment, whatever its scheme", () => {
  const redact = createRedactor([]);
  assertEquals(
    redact("ask git+ssh://me:pass@host/a?key=1#top and https://b/c?d"),
    "ask git+ssh://host/a and https://b/c",
  );
});
