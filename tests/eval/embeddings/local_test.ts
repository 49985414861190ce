import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import type { WorkerPort } from "../../../shared/background/worker_call.ts";
import { cosine } from "../../../eval/embeddings/embedder.ts";
import { createLocalEmbedder } from "../../../eval/embeddings/local.ts";
import { createLanguageDetector } from "../../../eval/language/detector.ts";
import { createPairComparer } from "../../../eval/scores/pair_scores.ts";

Deno.test("the sentence encoder runs in its worker and tells near from far", async () => {
  using embedder = createLocalEmbedder();
  const [dancing, dances, market, again] = await Promise.all(
    ["A man is dancing.", "A person dances.", "The stock market fell.", "A man is dancing."]
      .map((text) => embedder.embed(text)),
  );
  assertAlmostEquals(cosine(dancing!, again!), 1, 1e-6);
  assertAlmostEquals(cosine(dancing!, dances!), 0.736, 0.01); // as the packages give it by themselves
  assert(cosine(dancing!, market!) < 0.3);
});

Deno.test("languages are told in their worker", async () => {
  using detector = createLanguageDetector();
  const texts = ["Where is the parcel that I ordered?", "Wo ist das Paket, das ich bestellt habe?"];
  const [english, german] = await Promise.all(texts.map((text) => detector.detect(text)));
  assert(english!.isReliable && english!.code === "en");
  assert(german!.isReliable && german!.code === "de");
});

Deno.test("long texts are compared in their worker, with the result of short ones", async () => {
  using pairs = createPairComparer();
  const reference = "alpha beta gamma delta ".repeat(1000);
  const long = pairs.compare({ reply: `${reference}epsilon`, reference });
  assert(long instanceof Promise);
  const { scores: { rouge_1, exact_match } } = await long;
  assertAlmostEquals(rouge_1!, 2 * 4000 / 8001, 1e-12);
  assert(exact_match === 0);
  assert(!(pairs.compare({ reply: "a", reference: "a" }) instanceof Promise));
});

/** A worker that answers every text with the same vector, and counts the texts. */
function countingWorker() {
  let texts = 0;
  const port: WorkerPort = {
    onmessage: null,
    onerror: null,
    onmessageerror: null,
    postMessage({ id, input }: { id: number; input: string[] }) {
      texts += input.length;
      const output = input.map(() => new Float32Array([1]));
      const event = new MessageEvent("message", { data: { id, output } });
      queueMicrotask(() => port.onmessage?.call(port as Worker, event));
    },
    terminate() {},
  };
  return { port, count: () => texts };
}

Deno.test("a text is encoded once up to 20,000 characters, and a longer one is not kept", async () => {
  for (const [length, times] of [[20_000, 1], [20_001, 2]] as const) {
    const { port, count } = countingWorker();
    using embedder = createLocalEmbedder({ start: () => port });
    await embedder.embed("a".repeat(length));
    const once = count();
    await embedder.embed("a".repeat(length));
    assertEquals(count(), times * once, `${length} characters`);
  }
});
