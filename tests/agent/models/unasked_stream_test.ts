import { assertEquals } from "@std/assert";
import { failure, hubOf, providerOf, REQUEST, WAYS } from "../../fakes/openai_provider.ts";
import {
  completionBody,
  completionChunks,
  raw,
  sse,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

const EVENTS = { headers: { "content-type": "text/event-stream" } };

Deno.test("a reply that comes in events is read, although none were asked for", async () => {
  await using double = await startProviderDouble(sse(completionChunks({ content: "Hello." })));
  const { content, finishReason, usage } = await providerOf(double).complete(REQUEST);
  assertEquals([content, finishReason, usage?.totalTokens], ["Hello.", "stop", 12]);
});

Deno.test("such a reply is whole at its end, although the connection stays open", async () => {
  const answer = sse(completionChunks({ content: "Hello." }), { end: "hang" });
  await using double = await startProviderDouble(answer);
  assertEquals((await providerOf(double).complete(REQUEST)).content, "Hello.");
});

Deno.test("a whole reply under the name of events is read", async () => {
  const body = JSON.stringify(completionBody({ content: "Hello." }));
  await using double = await startProviderDouble(raw(body, EVENTS));
  assertEquals((await providerOf(double).complete(REQUEST)).content, "Hello.");
});

Deno.test("an error in such events, and their early end, are errors of the call", async () => {
  const [first] = completionChunks();
  const busy = { error: { message: "busy", code: 503 } };
  const cases = [
    [sse([busy]), { kind: "status", status: 503 }],
    [sse([first], { end: "close" }), { kind: "interrupted" }],
    [raw("", EVENTS), { kind: "interrupted" }],
  ] as const;
  for (const [answer, expected] of cases) {
    const error = await failure(answer, (double) => WAYS.complete(providerOf(double)));
    assertEquals(error.failure, expected);
  }
});

Deno.test("bytes that are not in the encoding that they should be in are asked for once", async () => {
  const headers = { "content-type": "application/json", "content-encoding": "zstd" };
  for (const way of ["complete", "stream"] as const) {
    await using double = await startProviderDouble(raw("{}", { headers }));
    const failed = await WAYS[way](hubOf(double)).catch((error) => error.failure);
    assertEquals([failed, double.requests.length], [{ kind: "unreadable" }, 1]);
  }
});
