import { assert, assertEquals, assertRejects } from "@std/assert";
import { createEndpointClient } from "../../../eval/endpoint/client.ts";
import { createEndpointPace, type EndpointPace } from "../../../eval/endpoint/pace.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";

const TIMEOUT_MS = 2_000;

function ask(fetch: typeof globalThis.fetch, pace: EndpointPace = createEndpointPace(8)) {
  const client = createEndpointClient({
    modelId: "m",
    credential: undefined,
    timeoutMs: TIMEOUT_MS,
    retries: 0,
    fetch,
    pace,
  });
  const read = (response: Response) => response.json();
  const call = { url: "http://127.0.0.1:9/", body: {}, read };
  return client.post(call, new AbortController().signal);
}

/** Answers soon, unless it is aborted before. */
const answer: typeof globalThis.fetch = (_input, init) =>
  new Promise((resolve, reject) => {
    init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason));
    setTimeout(() => resolve(Response.json({ text: "fine" })), 5);
  });

Deno.test("the wait for a permit counts neither as time of the call nor as latency", async () => {
  const pace = createEndpointPace(8);
  const late: EndpointPace = {
    ...pace,
    async acquire(signal) {
      await new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS + 50));
      return await pace.acquire(signal);
    },
  };
  const reply = await ask(answer, late);
  assertEquals(reply.value, { text: "fine" });
  assert(reply.latencyMs <= TIMEOUT_MS, `${reply.latencyMs} ms`);
});

Deno.test("an attempt that hangs ends at its timeout", async () => {
  const hang: typeof globalThis.fetch = (_input, init) =>
    new Promise((_resolve, reject) => {
      init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason));
    });
  const error = await assertRejects(() => ask(hang), ProviderError);
  assertEquals(error.failure, { kind: "timeout" });
});
