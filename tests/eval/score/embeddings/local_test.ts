import { assert, assertAlmostEquals, assertEquals, assertRejects } from "@std/assert";
import { type WorkerPort, WorkerUnavailable } from "../../../../shared/service/worker_call.ts";
import { cosine } from "../../../../eval/score/vectors.ts";
import { type EncoderInput, startEncoder } from "../../../../eval/score/encoder_start.ts";
import { createLocalEmbedder } from "../../../../eval/score/local_encoder.ts";
import { createPairComparer } from "../../../../eval/score/scores/lexical/pair_scores.ts";
import { until } from "../../../fakes/until.ts";

Deno.test("the sentence encoder runs in its worker and tells near from far, in every language", async () => {
  using embedder = createLocalEmbedder();
  const [dancing, dances, market, again, german] = await Promise.all(
    [
      "A man is dancing.",
      "A person dances.",
      "The stock market fell.",
      "A man is dancing.",
      "Ein Mann tanzt.",
    ]
      .map((text) => embedder.embed(text)),
  );
  assertAlmostEquals(cosine(dancing!, again!), 1, 1e-6);
  assert(cosine(dancing!, dances!) > 0.6);
  assert(cosine(dancing!, german!) > 0.6);
  assert(cosine(dancing!, market!) < 0.3);
});

Deno.test("long texts are compared in their worker, with the result of short ones", async () => {
  using pairs = createPairComparer();
  const reference = "alpha beta gamma delta ".repeat(1000);
  const long = pairs.compare({ reply: `${reference}epsilon`, reference });
  assert(long instanceof Promise);
  const { scores: { rouge_l, exact_match } } = await long;
  assertAlmostEquals(rouge_l!, 2 * 4000 / 8001, 1e-12);
  assert(exact_match === 0);
  assert(!(pairs.compare({ reply: "a", reference: "a" }) instanceof Promise));
});

/** Workers that answer every text with its length, and remember the batches. */
function fakeWorkers({ canJoin = true, canLend = true } = {}) {
  const seen = {
    batches: [] as string[][],
    started: 0,
    ended: 0,
    /** The models that workers were given when they were started, or that they had to load. */
    models: [] as unknown[],
  };
  const start = (): WorkerPort => {
    const name = `model ${seen.started++}`;
    let model: unknown;
    const port: WorkerPort = {
      onmessage: null,
      onerror: null,
      onmessageerror: null,
      postMessage({ id, input: { texts, joins, lends } }: { id: number; input: EncoderInput }) {
        if (!model) seen.models.push(model = joins ?? name);
        if (texts.length > 0) seen.batches.push(texts); // a probe has none
        const encoded = texts.map(({ length }) => ({
          vector: new Float32Array([length, 1]),
          states: new Float16Array(),
        }));
        const output = { texts: encoded, ...(lends && { lent: model }) };
        const fails = joins && !canJoin || lends && !canLend;
        const answer = fails ? { error: "no workspace is left" } : { output };
        const event = new MessageEvent("message", { data: { id, ...answer } });
        queueMicrotask(() => port.onmessage?.call(port as Worker, event));
      },
      terminate: () => void seen.ended++,
    };
    return port;
  };
  return { start, seen };
}

Deno.test("a text is encoded once up to a million characters, and a longer one is not kept", async () => {
  for (const [length, times] of [[1_000_000, 1], [1_000_001, 2]] as const) {
    const { start, seen } = fakeWorkers();
    using embedder = createLocalEmbedder({ start });
    await embedder.embed("a".repeat(length));
    const once = seen.batches.length;
    await embedder.embed("a".repeat(length));
    assertEquals(seen.batches.length, times * once, `${length} characters`);
  }
});

Deno.test("nothing is started before the first text, and texts that come one by one share a batch", async () => {
  const { start, seen } = fakeWorkers();
  using embedder = createLocalEmbedder({ start });
  assertEquals(seen.started, 0);
  const first = embedder.embed("a");
  await Promise.resolve();
  await Promise.all([first, embedder.embed("bb")]);
  assertEquals([seen.started, seen.batches], [1, [["a", "bb"]]]);
});

Deno.test("equal texts of a batch are encoded once, also parts of long ones", async () => {
  const { start, seen } = fakeWorkers();
  using embedder = createLocalEmbedder({ start });
  const long = "word ".repeat(6000); // too long to be remembered, and all its windows are the same
  const [one, other] = await Promise.all([embedder.embed(long), embedder.embed(long)]);
  assertEquals(one, other);
  for (const batch of seen.batches) assertEquals(batch.length, new Set(batch).size);
});

Deno.test("many texts go to several workers, in batches of at most 32", async () => {
  const { start, seen } = fakeWorkers();
  using embedder = createLocalEmbedder({ start, workers: 2 });
  await Promise.all(Array.from({ length: 100 }, (_, i) => embedder.embed(`text ${i}`)));
  assertEquals(seen.started, 2);
  assert(seen.batches.every(({ length }) => length <= 32));
});

Deno.test("a worker that is started beside another uses its model, and loads none", async () => {
  const { start, seen } = fakeWorkers();
  using embedder = createLocalEmbedder({ start, workers: 3 });
  await Promise.all(Array.from({ length: 100 }, (_, i) => embedder.embed(`text ${i}`)));
  assertEquals(seen.models, ["model 0", "model 0", "model 0"]);
});

Deno.test("after a rest a model is loaded anew: the one of workers that have ended is not kept", async () => {
  const { start, seen } = fakeWorkers();
  using embedder = createLocalEmbedder({ start, workers: 2, idleMs: 1 });
  for (const round of [1, 2]) {
    await Promise.all(Array.from({ length: 60 }, (_, i) => embedder.embed(`${round}, text ${i}`)));
    await until(() => seen.ended >= 2 * round);
  }
  assertEquals(seen.models, ["model 0", "model 0", "model 2", "model 2"]);
});

Deno.test("a worker whose first one cannot give its model loads its own", async () => {
  const { start, seen } = fakeWorkers({ canLend: false });
  using embedder = createLocalEmbedder({ start, workers: 2 });
  await Promise.all(Array.from({ length: 100 }, (_, i) => embedder.embed(`text ${i}`)));
  assertEquals(seen.models, ["model 0", "model 1"]);
});

Deno.test("an embedder that has ended starts no worker", async () => {
  const { start, seen } = fakeWorkers();
  const embedder = createLocalEmbedder({ start });
  const waiting = embedder.embed("a");
  embedder[Symbol.dispose]();
  await assertRejects(() => waiting, WorkerUnavailable, "was ended");
  assertEquals(seen.started, 0);
});

Deno.test("a worker that cannot use the model of another loads its own", async () => {
  const { start, seen } = fakeWorkers({ canJoin: false });
  using embedder = createLocalEmbedder({ start, workers: 2 });
  await Promise.all(Array.from({ length: 100 }, (_, i) => embedder.embed(`text ${i}`)));
  await until(() => seen.models.length >= 3); // restarted
  assertEquals(seen.models, ["model 0", "model 0", "model 2"]);
});

Deno.test("several encoders that share a model give the vectors of one", async () => {
  const texts = Array.from({ length: 60 }, (_, i) => `Order ${i} was sent on day ${i * 7}.`);
  let started = 0;
  using many = createLocalEmbedder({
    workers: 3,
    start() {
      started++;
      return startEncoder();
    },
  });
  using one = createLocalEmbedder();
  const [vectors, expected] = await Promise.all(
    [many, one].map(({ embed }) => Promise.all(texts.map((text) => embed(text)))),
  );
  assertEquals(vectors, expected);
  assertEquals(started, 3);
});

Deno.test("a pair that comes again, in this run or the next, is compared once", async () => {
  let compared = 0;
  using embedder = createLocalEmbedder({
    start() {
      const port = startEncoder();
      const { postMessage } = port;
      port.postMessage = (message: { input?: EncoderInput }, ...rest: []) => {
        compared += message.input?.pairs?.length ?? 0;
        postMessage.call(port, message, ...rest);
      };
      return port;
    },
  });
  const reference = "The shop is open on Sunday.";
  const agreementOf = (reply: string) => embedder.compare!({ reply, reference });
  const both = await Promise.all([agreementOf("It is open."), agreementOf("It is open.")]);
  assertEquals(await agreementOf("It is open."), both[0]);
  assertEquals(compared, 1);
  const reverse = { reply: reference, reference: "It is open." };
  await embedder.compare!(reverse);
  assertEquals(compared, 2);
});

Deno.test("an idle worker is ended, and the next text starts another", async () => {
  const { start, seen } = fakeWorkers();
  const ended = Promise.withResolvers<void>();
  const startWatched = (): WorkerPort => {
    const port = start();
    const { terminate } = port;
    port.terminate = () => {
      terminate.call(port);
      ended.resolve();
    };
    return port;
  };
  using embedder = createLocalEmbedder({ start: startWatched, idleMs: 1 });
  await embedder.embed("a");
  const alive = setInterval(() => {}, 1000); // the idle timer keeps no process alive
  await ended.promise;
  clearInterval(alive);
  assertEquals([seen.started, seen.ended], [1, 1]);
  await embedder.embed("b");
  assertEquals(seen.started, 2);
});
