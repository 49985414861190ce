import { assert, assertEquals, assertThrows } from "@std/assert";
import { BGE_ZH } from "../../../../eval/assess/embeddings/bert/bge_zh.ts";
import type { Comparison, EncodedPair } from "../../../../eval/assess/embeddings/bert/comparing.ts";
import { bestBuild, type KernelBuild } from "../../../../eval/assess/embeddings/bert/kernel.ts";
import { MINILM } from "../../../../eval/assess/embeddings/bert/minilm.ts";
import {
  createSentenceModel,
  joinSentenceModel,
  type SentenceModel,
} from "../../../../eval/assess/embeddings/bert/sentence_model.ts";
import { product } from "../../../../eval/assess/vectors.ts";
import expected from "../agreement/data/outputs.json" with { type: "json" };
import { createReferenceComparer } from "../../../fakes/reference_comparer.ts";

const BUILDS: KernelBuild[] = ["plain", "relaxed", "pairs"];

const loaded = new Map<KernelBuild, Promise<SentenceModel>>();

/** Loads a model once: it takes a second. */
function loadModel(build = bestBuild()): Promise<SentenceModel> {
  const model = loaded.get(build) ?? load(build);
  loaded.set(build, model);
  return model;
}

async function load(build: KernelBuild): Promise<SentenceModel> {
  const model = createSentenceModel(MINILM.shape, build);
  for await (const piece of MINILM.read()) model.load(piece);
  return model;
}

function encodePairs(model: SentenceModel, pairs: { reference: string; reply: string }[]) {
  const [references, replies] = [
    model.encode(pairs.map(({ reference }) => reference), true),
    model.encode(pairs.map(({ reply }) => reply), true),
  ];
  return references.map(({ vector, states }, index): EncodedPair => ({
    reference: states!,
    reply: replies[index]!.states!,
    cosine: product(vector, replies[index]!.vector),
  }));
}

/** The largest difference between two comparisons, in any of their seven numbers. */
function distance(left: Comparison, right: Comparison): number {
  const numbers = ({ reply, reference, similarity }: Comparison) => [
    ...reply,
    ...reference,
    similarity,
  ];
  const others = numbers(right);
  return Math.max(...numbers(left).map((value, index) => Math.abs(value - others[index]!)));
}

/** By another program (numpy), in floats, from the weights that the kernel has. */
const trained = expected.map(({ forward, backward, similarity }) => ({
  reply: forward,
  reference: backward,
  similarity,
} as Comparison));

Deno.test("the kernel compares texts as floats do: within 0.05, on average within 0.02", async () => {
  const model = await loadModel();
  const distances = model.compare(encodePairs(model, expected))
    .map((comparison, index) => distance(comparison, trained[index]!));
  const mean = distances.reduce((sum, value) => sum + value, 0) / distances.length;
  assert(mean < 0.02, `mean ${mean}`);
  assert(Math.max(...distances) < 0.05, `largest ${Math.max(...distances)}`);
});

Deno.test("in floats the layers give what another program gave, within 0.01", async () => {
  const compare = await createReferenceComparer();
  for (const index of [0, 7, 14, 21, 28, 45]) {
    const { reference, reply } = expected[index]!;
    const far = distance(compare(reference, reply), trained[index]!);
    assert(far < 0.01, `"${reference}" and "${reply}": ${far}`);
  }
});

Deno.test("every kind of processor compares alike to the last bit, alone and among others", async () => {
  const some = expected.slice(0, 12);
  const [first, ...others] = await Promise.all(BUILDS.map(async (build) => {
    const model = await loadModel(build);
    const pairs = encodePairs(model, some);
    return [...model.compare(pairs), ...pairs.flatMap((pair) => model.compare([pair]))];
  }));
  for (const other of others) assertEquals(other, first);
  assertEquals(first!.slice(0, some.length), first!.slice(some.length));
});

Deno.test("a joined model compares alike; one without the layers says so", async () => {
  const model = await loadModel();
  const joined = joinSentenceModel(MINILM.shape, model.share());
  const pairs = encodePairs(model, expected.slice(0, 5));
  assertEquals(joined.compare(pairs), model.compare(pairs));
  const other = createSentenceModel(BGE_ZH.shape);
  assertThrows(() => other.compare(pairs), Error, "cannot compare");
});

Deno.test("of a longer text the first 96 word pieces are compared", async () => {
  const model = await loadModel();
  const long = model.encode(["word ".repeat(200)], true)[0]!;
  assertEquals(long.states!.length, 96 * MINILM.shape.width);
});
