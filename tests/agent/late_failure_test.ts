import { assertEquals } from "@std/assert";
import { streamCompletion } from "../../agent/openai/stream.ts";
import { streamAnswer } from "../../agent/answer/streamed_answer.ts";
import { ProviderError } from "../../shared/providers/provider.ts";
import { readChunks, readEvents } from "../fakes/events.ts";

/** A run that fails without a token, when comments have opened its stream long ago. */

const OPTIONS = {
  signal: new AbortController().signal,
  context: { requestId: "r1", fields: {}, logAfter: () => {} },
  keepAliveMs: 5,
};

const REPAIRS = { paired: 0, merged: 0, bridged: 0, opened: 0, filled: 0, dropped: 0, cut: 0 };

async function failLate(): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, 50));
  throw new ProviderError(502, "provider_error", "gone", { kind: "unreachable" });
}

Deno.test("a run that fails after the first comment ends with the problem as an event", async () => {
  const response = await streamAnswer({ model: "a/b", repairs: REPAIRS, start: failLate }, OPTIONS);
  const events = await Array.fromAsync(readEvents(response));
  assertEquals(response.status, 200);
  assertEquals(events.map(({ event, data }) => [event, data.code]), [["error", "provider_error"]]);
});

Deno.test("a completion that fails after the first comment ends with a chunk of its error", async () => {
  const source = { model: "a/b", headers: {}, start: failLate };
  const options = { ...OPTIONS, includeUsage: false, showTools: false };
  const chunks = await readChunks(await streamCompletion(source, options));
  assertEquals(chunks.map(({ error }) => error.code), ["provider_error"]);
});
