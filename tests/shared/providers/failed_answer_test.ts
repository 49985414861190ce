import { assertEquals } from "@std/assert";
import { readStart } from "../../../shared/providers/answer.ts";

/** What is read of an answer whose connection breaks after these pieces. */
function startOfCut(...pieces: string[]): Promise<string> {
  const source = pieces.map((piece) => new TextEncoder().encode(piece));
  const body = new ReadableStream({
    pull(controller) {
      const piece = source.shift();
      if (piece) controller.enqueue(piece);
      else controller.error(new Error("reset"));
    },
  });
  return readStart(new Response(body));
}

Deno.test("of an answer that is cut the last word is not read: it may be half a secret", async () => {
  assertEquals(await startOfCut("The key ", "sk-0123"), "The key …");
  assertEquals(await startOfCut("Bad gateway\n"), "Bad gateway\n");
  const long = await startOfCut(`${"x".repeat(65_530)} sk-0123`, "456");
  assertEquals(long, `${"x".repeat(65_530)} …`);
});

Deno.test("an answer that comes whole is read whole, and so is JSON of a connection that breaks", async () => {
  assertEquals(await readStart(new Response("No such model")), "No such model");
  assertEquals(await startOfCut('{"error":', '"too long"}'), '{"error":"too long"}');
});
