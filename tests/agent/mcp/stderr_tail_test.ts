import { assert, assertEquals } from "@std/assert";
import { PassThrough } from "node:stream";
import { keepTail } from "../../../agent/mcp/stderr_tail.ts";
import { createRedactor } from "../../../shared/redaction.ts";

/** What is kept of a program that writes these texts. */
async function tailOf(...texts: string[]): Promise<string> {
  const stream = new PassThrough();
  const read = keepTail(stream);
  for (const text of texts) stream.write(text);
  await new Promise((resolve) => stream.end(resolve));
  return read();
}

Deno.test("no part of a secret is left at the beginning of what is kept of a program's errors", async () => {
  const secret = "sk-0123456789abcdef";
  const redact = createRedactor([secret]);
  for (const line of [`authorization: Bearer ${secret}\n`, `authorization: Bearer ${secret} `]) {
    for (let length = 0; length < line.length; length++) {
      const tail = redact(await tailOf(line.repeat(200), "x".repeat(length)));
      assert(!tail.includes("abcdef"), tail.slice(0, 40));
    }
  }
});

Deno.test("a program's errors are kept whole if they are short, and a long line is not lost", async () => {
  assertEquals(await tailOf("no such", " file\nexit 1\n"), "no such file\nexit 1");
  assertEquals(await tailOf("first\n", "word ".repeat(2000), "\n"), "word ".repeat(818).trim());
  assertEquals(await tailOf(`${"x".repeat(20_000)}\n`), "x".repeat(4095));
});
