import { assert, assertEquals } from "@std/assert";
import { PassThrough } from "node:stream";
import { keepTail } from "../../../agent/mcp/transport.ts";
import { createRedactor } from "../../../shared/redaction.ts";

/** What is kept of a program that writes these texts. */
async function tailOf(
  texts: string[],
  { secrets = [], ...options }: { secrets?: string[]; olderCharacters?: number } = {},
): Promise<string> {
  const stream = new PassThrough();
  const read = keepTail(stream, createRedactor(secrets), options);
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
      const texts = [line.repeat(900), "x".repeat(length)];
      const tail = await tailOf(texts, { secrets: [secret], olderCharacters: 4_096 });
      assert(!tail.includes("def") && tail.length > 1_000, `${tail.length}: ${tail.slice(0, 40)}`);
    }
  }
});

Deno.test("a long secret of a program is not shown, wherever it is cut", async () => {
  const secret = "0123456789abcdef".repeat(1_000);
  for (const after of [0, 100, 4_000, 8_000]) {
    const texts = ["x".repeat(200_000), secret.slice(0, 9_000), secret.slice(9_000)];
    const tail = await tailOf([...texts, "y".repeat(after)], { secrets: [secret] });
    assert(
      !tail.includes("def") && tail.endsWith("y".repeat(Math.min(after, 4_096))),
      String(after),
    );
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
