import { assertEquals } from "@std/assert";
import { providerOf, REQUEST } from "../../fakes/openai_provider.ts";
import {
  completionBody,
  completionChunks,
  partial,
  raw,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

const WHOLE = JSON.stringify(completionBody({ content: "Hello" }));
const EVENTS = completionChunks({ content: "Hello" })
  .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);

/** What gateways send instead of a type that fits. */
const TYPES = ["", "text/plain;charset=UTF-8", "application/octet-stream"];

Deno.test("JSON with Flask's text/html is a completion, also instead of a stream", async () => {
  const answer = raw(WHOLE, { headers: { "content-type": "text/html; charset=utf-8" } });
  await using double = await startProviderDouble(answer);
  assertEquals((await providerOf(double).complete(REQUEST)).content, "Hello");
  const deltas = await Array.fromAsync(providerOf(double).stream(REQUEST));
  assertEquals(deltas.map((delta) => delta.type), ["text", "reply"]);
});

for (const type of TYPES) {
  const headers: Record<string, string> = type ? { "content-type": type } : {};
  const named = type || "no content type";

  Deno.test(`a completion with ${named} is read`, async () => {
    await using double = await startProviderDouble(raw(encode(WHOLE), { headers }));
    assertEquals((await providerOf(double).complete(REQUEST)).content, "Hello");
  });

  Deno.test(`a whole completion with ${named} instead of a stream is read`, async () => {
    for (const pieces of [[WHOLE], [" ", "\n", WHOLE.slice(0, 1), WHOLE.slice(1)]]) {
      await using double = await startProviderDouble(partial(pieces, { end: "close", type }));
      const deltas = await Array.fromAsync(providerOf(double).stream(REQUEST));
      assertEquals(deltas.map((delta) => delta.type), ["text", "reply"]);
    }
  });

  Deno.test(`a stream with ${named} is read as it comes`, async () => {
    const answer = partial([": hello\n\n", ...EVENTS], { end: "hang", type });
    await using double = await startProviderDouble(answer);
    const deltas = providerOf(double).stream(REQUEST)[Symbol.asyncIterator]();
    assertEquals((await deltas.next()).value, { type: "text", text: "Hello" });
    await deltas.return?.();
    await double.aborted();
  });
}

Deno.test("an error with status 200 and no content type is that error", async () => {
  const body = JSON.stringify({ error: { code: 400, message: "too long" } });
  await using double = await startProviderDouble(raw(encode(body)));
  const provider = providerOf(double);
  for (const ask of [() => provider.complete(REQUEST), () => drain(provider.stream(REQUEST))]) {
    const { status, message } = await ask().then(() => new Error("none"), (error) => error);
    assertEquals([status, message.includes("too long")], [400, true]);
  }
});

/** Bytes: a text would get a content type. */
function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

async function drain(deltas: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of deltas);
}
