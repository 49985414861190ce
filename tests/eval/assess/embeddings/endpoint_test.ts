import { assertEquals, assertRejects } from "@std/assert";
import { createEndpointEmbedder } from "../../../../eval/assess/embeddings/endpoint.ts";
import type { Answered, EndpointCall, EndpointClient } from "../../../../eval/endpoint/client.ts";
import { startCallClock } from "../../../../shared/providers/call_clock.ts";

/** A client whose server answers by a function; an answer that cannot be read is an error. */
function clientOf(answer: (body: { input: string[] }) => unknown) {
  const calls: { url: string; body: unknown }[] = [];
  const client: EndpointClient = {
    async post<T>({ url, body, read }: EndpointCall<T>): Promise<Answered<T>> {
      calls.push({ url, body });
      const response = Response.json(answer(body as { input: string[] }));
      const clock = startCallClock(10_000);
      return { value: await read(response, clock, 0).finally(clock.stop), latencyMs: 0 };
    },
  };
  return { client, calls };
}

const options = { baseUrl: "https://host/v1", model: "embed-1" };
const vectors = ({ input }: { input: string[] }) => ({
  data: input.map((text, index) => ({ index, embedding: [text.length, 1] })).reverse(),
});

Deno.test("an embeddings endpoint is asked in batches, and its vectors go to their texts", async () => {
  const { client, calls } = clientOf(vectors);
  using embedder = createEndpointEmbedder(options, client);
  const [short, long] = await Promise.all([embedder.embed("a"), embedder.embed("aaaa")]);
  assertEquals(calls, [{
    url: "https://host/v1/embeddings",
    body: { model: "embed-1", input: ["a", "aaaa"], encoding_format: "float" },
  }]);
  assertEquals(long![0]! / long![1]!, 4);
  assertEquals(short![0], short![1]);
});

Deno.test("a query of the embeddings' address stays a query", async () => {
  const { client, calls } = clientOf(vectors);
  const baseUrl = "https://host/v1?api-version=2026-01";
  using embedder = createEndpointEmbedder({ ...options, baseUrl }, client);
  await embedder.embed("a");
  assertEquals(calls[0]!.url, "https://host/v1/embeddings?api-version=2026-01");
});

const BAD_ANSWERS: [what: string, answer: unknown][] = [
  ["no data", {}],
  ["a vector too few", { data: [] }],
  ["something else than numbers", { data: [{ index: 0, embedding: ["x"] }] }],
  ["a position that is not there", { data: [{ index: 7, embedding: [1] }] }],
  ["a number that is too large for a vector", { data: [{ index: 0, embedding: [1e300] }] }],
];

for (const [what, answer] of BAD_ANSWERS) {
  Deno.test(`an embeddings answer with ${what} is refused`, async () => {
    using embedder = createEndpointEmbedder(options, clientOf(() => answer).client);
    await assertRejects(() => embedder.embed("a"), Error, "unreadable");
  });
}

Deno.test("a text is remembered up to a million characters, and a longer one is not kept", async () => {
  for (const [length, times] of [[1_000_000, 1], [1_000_001, 2]] as const) {
    const { client, calls } = clientOf(vectors);
    using embedder = createEndpointEmbedder(options, client);
    await embedder.embed("a".repeat(length));
    const once = calls.length;
    await embedder.embed("a".repeat(length));
    assertEquals(calls.length, times * once, `${length} characters`);
  }
});

Deno.test("an embeddings answer whose vectors differ in length is refused, also from an earlier one", async () => {
  const { client } = clientOf(({ input }) => ({
    data: input.map((text) => ({ embedding: text === "odd" ? [1, 2, 3] : [1, 2] })),
  }));
  using embedder = createEndpointEmbedder(options, client);
  const both = await Promise.allSettled([embedder.embed("odd"), embedder.embed("even")]);
  assertEquals(both.map(({ status }) => status), ["rejected", "rejected"]);
  assertEquals((await embedder.embed("even")).length, 2);
  await assertRejects(() => embedder.embed("odd"), Error, "unreadable");
});

Deno.test("a text whose vector is 0 or empty has none, and the others of its batch do", async () => {
  for (const nothing of [[0, 0], [1e-300, 0]]) {
    const { client } = clientOf(({ input }) => ({
      data: input.map((text) => ({ embedding: text === "void" ? nothing : [1, 2] })),
    }));
    using embedder = createEndpointEmbedder(options, client);
    const [none, some] = await Promise.allSettled([embedder.embed("void"), embedder.embed("a")]);
    assertEquals([none!.status, some!.status], ["rejected", "fulfilled"]);
  }
  const { client } = clientOf(({ input: [text] }) => ({
    data: [{ embedding: text === "void" ? [] : [1, 2] }],
  }));
  using embedder = createEndpointEmbedder(options, client);
  await assertRejects(() => embedder.embed("void"), Error, "0 or empty");
  assertEquals((await embedder.embed("a")).length, 2);
});
