import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { csv } from "../../../eval/datasets/formats/csv.ts";
import { ImportError } from "../../../eval/datasets/formats/format.ts";
import { importScenarios } from "../../../eval/datasets/import_scenarios.ts";

/** Reads a table that arrives in long pieces, and cannot be imported. */
function refuse(pieces: string[]): Promise<ImportError> {
  const { scenarios } = importScenarios(ReadableStream.from(pieces), { format: csv });
  return assertRejects(() => Array.fromAsync(scenarios), ImportError);
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`).join();

Deno.test("a table may have ten thousand columns, but not more", async () => {
  const cells = ",x".repeat(9_999);
  const file = [`user_message,${names(9_999)}\n`, `Hi${cells}\n`];
  const { scenarios } = importScenarios(ReadableStream.from(file), { format: csv });
  assertEquals((await Array.fromAsync(scenarios)).length, 1);
  const { line, reason } = await refuse([`user_message,${names(20_000)}\n`]);
  assertEquals([line, reason], [1, "there are more than 10000 columns"]);
});

Deno.test("a table with 200,000 columns is refused before it is read to the end of its first row", async () => {
  const header = `user_message,${names(200_000)}\n`;
  const pieces = header.match(/[^]{1,65536}/g)!;
  let read = 0;

  const stream = ReadableStream.from((function* () {
    for (const piece of pieces) {
      read++;
      yield piece;
    }
  })());
  const { scenarios } = importScenarios(stream, { format: csv });
  const { reason } = await assertRejects(() => Array.fromAsync(scenarios), ImportError);
  assertEquals(reason, "there are more than 10000 columns");
  assert(read < pieces.length, `${read} of ${pieces.length} pieces were read`);
});

Deno.test("a message about a missing column names the first columns only, and not whole texts", async () => {
  const { reason } = await refuse([
    `${"a".repeat(10_000)},${names(9_000)}\n1${",2".repeat(9_000)}\n`,
  ]);
  assertStringIncludes(reason, `${"a".repeat(99)}…, c0, c1, `);
  assertStringIncludes(reason, ", c48 and 8951 more)");
});

Deno.test("a row of a table is not collected without bound, be it text or separators", async () => {
  const header = "user_message,b\nfine,1\n";
  const piece = 1_000_000;
  const repeat = (text: string) => Array.from({ length: 17 }, () => text.repeat(piece));
  const text = await refuse([header, '"\n', ...repeat("a").map((lines) => `${lines}\n`)]);
  assertStringIncludes(text.reason, "16000000");
  const separators = await refuse([header, ...repeat(",")]);
  assertEquals([separators.line, separators.reason], [3, "it is longer than 16000000 characters"]);
});
