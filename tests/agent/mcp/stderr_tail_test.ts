import { assert, assertEquals } from "@std/assert";
import { PassThrough } from "node:stream";
import { keepTail } from "../../../agent/mcp/stderr_tail.ts";
import { createRedactor } from "../../../shared/redaction.ts";

/** What is kept of a program that writes these texts. */
async function tailOf(texts: string[], secrets: string[] = []): Promise<string> {
  const stream = new PassThrough();
  const read = keepTail(stream, createRedactor(secrets));
  for (const text of texts) stream.write(text);
  await new Promise((resolve) => stream.end(resolve));
  return read();
}

Deno.test("no part of a secret is left at the beginning of what is kept of a program's errors", async () => {
  const plain = "sk-0123456789abcdef";
  const cases: [secret: string, line: string][] = [
    [plain, `authorization: Bearer ${plain}\n`],
    [plain, `authorization: Bearer ${plain} `],
    [plain, `authorization=${plain},`],
    [plain, plain],
    ["pass with abcdef", "password: pass with abcdef, "],
    ["-----BEGIN\n0123456789\nabcdef", "key: -----BEGIN\n0123456789\nabcdef\n"],
  ];
  for (const [secret, line] of cases) {
    for (let length = 0; length < line.length; length++) {
      const tail = await tailOf([line.repeat(900), "x".repeat(length)], [secret]);
      assert(!tail.includes("def") && tail.length > 1_000, `${tail.length}: ${tail.slice(0, 40)}`);
    }
  }
});

Deno.test("a program's errors are kept whole if they are short, and a long line is not lost", async () => {
  assertEquals(await tailOf(["no such", " file\nexit 1\n"]), "no such file\nexit 1");
  assertEquals(await tailOf(["first\n", "word ".repeat(2000), "\n"]), "word ".repeat(819).trim());
  assertEquals(await tailOf([`${"x".repeat(20_000)}\n`]), "x".repeat(4095));
  assertEquals(await tailOf(["x".repeat(4100), "\nend\n"]), `${"x".repeat(4091)}\nend`);
  assertEquals(await tailOf(["x".repeat(9000), "\nend\n"]), `${"x".repeat(4091)}\nend`);
});

Deno.test("colours take nothing from what is kept of a program's errors", async () => {
  const coloured = await tailOf(["\u001b[31mred\u001b[0m ".repeat(2000)]);
  assert(/^\S{0,5} ?(red )+red$/.test(coloured) && coloured.length > 1_000, coloured.slice(0, 40));
});
