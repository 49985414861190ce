import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "seeded-fast-check";
import { createWordPieces } from "../../../../eval/score/embeddings/bert/word_pieces.ts";
import { product, products } from "../../../../eval/score/vectors.ts";
import {
  ENCODER_OPTIONS,
  type EncoderInput,
  type EncoderOutput,
} from "../../../../eval/score/encoder_start.ts";
import { createEndpointEmbedder } from "../../../../eval/score/embeddings_endpoint.ts";
import { cutWindows, MAX_WINDOWS } from "../../../../eval/score/embeddings/windows.ts";
import type { Answered, EndpointCall, EndpointClient } from "../../../../eval/ask/client.ts";
import { COMPUTE_ONLY, createWorkerCall } from "../../../../shared/service/worker_call.ts";
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

Deno.test("inner products taken side by side are the same to the last bit", () => {
  const vector = fc.float32Array({
    minLength: 7,
    maxLength: 7,
    noNaN: true,
    noDefaultInfinity: true,
  });
  fc.assert(fc.property(vector, fc.array(vector, { maxLength: 10 }), (one, others) => {
    assertEquals(products(one, others), others.map((other) => product(one, other)));
  }));
});

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`).join(" ");

Deno.test("a short text is one window, as it is", () => {
  assertEquals(cutWindows("two words"), ["two words"]);
  assertEquals(cutWindows(""), [""]);
});

Deno.test("a longer text is cut where the encoder would stop reading, and nothing is lost", () => {
  const windows = cutWindows(numbered(200));
  assertEquals(windows.length, 4);
  assertEquals(windows.join(" "), numbered(200));
});

Deno.test("a longer text is cut into its sentences, of any script, and many sentences share windows", () => {
  const sentences = ["one", "two", "three"].map((last) => `${numbered(30)} ${last}.`);
  assertEquals(cutWindows(sentences.join(" ")), sentences);
  const chinese = Array.from({ length: 9 }, (_, i) => `您的第${i}个订单已经发货，请注意查收。`);
  assertEquals(cutWindows(chinese.join("")), chinese);
  const many = Array.from({ length: 3 * MAX_WINDOWS }, (_, i) => `${numbered(8)} ${i}.`);
  const windows = cutWindows(many.join(" "));
  assert(windows.length < MAX_WINDOWS && windows.every((window) => window.endsWith(".")));
  assertEquals(windows.join(" "), many.join(" "));
});

Deno.test("a window of any script fits into what the encoder reads", () => {
  for (const text of ["您的订单已经发货。".repeat(60), "Ваша посылка уже в пути. ".repeat(60)]) {
    const windows = cutWindows(text);
    assert(windows.length > 2);
    assert(windows.every((window) => window.length <= 256), `${windows[0]!.length}`);
    assertEquals(windows.join("").replaceAll(" ", ""), text.replaceAll(" ", ""));
  }
});

Deno.test("of a very long text windows from its beginning to its end are taken", () => {
  const windows = cutWindows(numbered(100_000));
  assertEquals(windows.length, MAX_WINDOWS);
  assert(windows[0]!.startsWith("w0 "));
  assert(windows.at(-1)!.endsWith("w99999"));
});

Deno.test("a word of a megabyte is cut too", () => {
  const windows = cutWindows("x".repeat(1_000_000));
  assertEquals(windows.length, MAX_WINDOWS);
  assert(windows.every((window) => window.length < 4000));
});

const SPECIAL = ["[pad]", "[unknown]", "[start]", "[end]"];
const VOCABULARY = ["parcel", "ship", "##ped", "café", "!", "订", "单", "١"];
const vocabulary = [...SPECIAL, ...VOCABULARY];
const [, UNKNOWN, START, END] = SPECIAL as [string, string, string, string];

function cut(text: string, longest?: number): string[] {
  return createWordPieces(vocabulary, longest)(text).map((id) => vocabulary[id]!);
}

const CASES: [text: string, pieces: string[], why: string][] = [
  ["", [], "nothing"],
  ["Parcel shipped!", ["parcel", "ship", "##ped", "!"], "letter case and marks"],
  ["CAFÉ cafe\u0301", ["café", "café"], "accents stay, composed or not"],
  ["ｐａｒｃｅｌ！", ["parcel", "!"], "wide letters"],
  ["订单parcel", ["订", "单", "parcel"], "Chinese characters are words"],
  ["par\u200bcel \u0000", ["parcel"], "what cannot be seen is not there"],
  ["shipxyz parcel", [UNKNOWN, "parcel"], "a word that cannot be cut is unknown"],
  ["x".repeat(61), [UNKNOWN], "a very long word is unknown"],
];

for (const [text, pieces, why] of CASES) {
  Deno.test(`a text in word pieces: ${why}`, () => {
    assertEquals(cut(text), [START, ...pieces, END]);
  });
}

Deno.test("a long text ends at the limit, with its end", () => {
  assertEquals(cut("parcel ".repeat(9), 5), [START, "parcel", "parcel", "parcel", END]);
});

/** `undefined` if the compiler is not available: nothing else needs it. */
const compiler = await import("../../../../.ci/kernel.ts").catch(() => undefined);

Deno.test({
  name: "the committed kernels are the build of their source",
  ignore: !compiler,
  async fn() {
    for (const build of compiler!.KERNELS) {
      const { file } = build;
      assertEquals(await compiler!.compileKernel(build), await Deno.readFile(file), file.href);
    }
  },
});

/** Asks a new worker, which also reports its permissions. */
async function ask(input: EncoderInput): Promise<{ output: EncoderOutput; granted: string[] }> {
  const url = new URL("../../../fakes/encoder_that_tells.ts", import.meta.url);
  const worker = new Worker(url, ENCODER_OPTIONS);
  const answered = Promise.withResolvers<EncoderOutput>();
  const told = Promise.withResolvers<string[]>();
  worker.onmessage = ({ data }) =>
    "granted" in data ? told.resolve(data.granted) : answered.resolve(data.output);
  worker.postMessage({ id: 1, input, limitMs: 60_000 });
  const answer = { output: await answered.promise, granted: await told.promise };
  worker.terminate();
  return answer;
}

Deno.test("an encoder that has a text may read no file, nor do anything else but compute", async () => {
  const first = await ask({ texts: ["a"], lends: true });
  assertEquals(first.granted, []);
  const joined = await ask({ texts: ["a"], joins: first.output.lent! }); // the first has ended
  assertEquals(joined.granted, []);
  assertEquals(joined.output.texts, first.output.texts);
});

Deno.test("an encoder that cannot read its weights says why at every call", async () => {
  const url = new URL("../../../../eval/score/encoder_worker.ts", import.meta.url);
  using call = createWorkerCall<EncoderInput, EncoderOutput>(() => new Worker(url, COMPUTE_ONLY));
  for (let i = 0; i < 2; i++) {
    await assertRejects(() => call({ texts: ["a"] }), Error, "read access");
  }
});
