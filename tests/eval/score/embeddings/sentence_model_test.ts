import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { MOST_ENCODERS } from "../../../../eval/score/wiring.ts";
import type { Comparison, EncodedPair } from "../../../../eval/score/embeddings/bert/comparing.ts";
import { bestBuild, type KernelBuild } from "../../../../eval/score/embeddings/bert/kernel.ts";
import { createMemory, layOut, takeRoom } from "../../../../eval/score/embeddings/bert/layout.ts";
import {
  joinSentenceModel,
  loadSentenceModel,
  type SentenceModel,
} from "../../../../eval/score/embeddings/bert/sentence_model.ts";
import { readVocabulary } from "../../../../eval/score/embeddings/bert/weights.ts";
import { createWordPieces } from "../../../../eval/score/embeddings/bert/word_pieces.ts";
import { product } from "../../../../eval/score/vectors.ts";
import { createReferenceModel } from "../../../fakes/reference_model.ts";
import trained from "./data/reference.json" with { type: "json" };
import once from "./data/vector.json" with { type: "json" };

const TEXTS = [
  "Thanks!",
  "A man is opening a door.",
  "Wo ist mein Paket?",
  "您的订单已经发货。",
  "",
];

/** With more than one group of rows and of word pieces. */
const LONG_TEXTS = [...TEXTS, "A parcel for Berlin, sent on Monday. ".repeat(20)];
const BUILDS: KernelBuild[] = ["plain", "relaxed", "pairs"];

const loaded = new Map<KernelBuild, Promise<SentenceModel>>();

function loadModel(build = bestBuild()): Promise<SentenceModel> {
  return loaded.getOrInsertComputed(build, loadSentenceModel);
}

function encodePairs(model: SentenceModel, pairs: { reference: string; reply: string }[]) {
  const references = model.encode(pairs.map(({ reference }) => reference));
  const replies = model.encode(pairs.map(({ reply }) => reply));
  return references.map(({ vector, states }, index): EncodedPair => ({
    reference: states,
    reply: replies[index]!.states,
    cosine: product(vector, replies[index]!.vector),
  }));
}

/** The largest difference from what training gave in floats, in any of the seven numbers. */
function distance({ reply, reference, similarity }: Comparison, index: number): number {
  const numbers = [...reply, ...reference, similarity];
  const { forward, backward, similarity: graded } = trained[index]!;
  const others = [...forward, ...backward, graded];
  return Math.max(...numbers.map((value, at) => Math.abs(value - others[at]!)));
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

Deno.test("texts of twenty languages are cut into word pieces as in training", async () => {
  const cut = createWordPieces((await readVocabulary()).split("\n"));
  for (const { reference, reply, reference_ids, reply_ids } of trained) {
    assertEquals([cut(reference), cut(reply)], [reference_ids, reply_ids], reference);
  }
});

Deno.test("the kernel compares texts as floats do: within 0.05, on average within 0.02", async () => {
  const model = await loadModel();
  const pairs = encodePairs(model, trained);
  const distances = model.compare(pairs).map(distance);
  assert(mean(distances) < 0.02, `mean ${mean(distances)}`);
  assert(Math.max(...distances) < 0.05, `largest ${Math.max(...distances)}`);
  for (const [index, { cosine }] of pairs.entries()) {
    assertAlmostEquals(cosine, trained[index]!.cosine, 0.02);
  }
});

Deno.test("in plain floats the weights of the file give what training gave, on average within 0.01", async () => {
  const model = await createReferenceModel();
  const some = trained.slice(0, 12);
  const distances = some.map(({ reference, reply }, index) =>
    distance(model.compare(reference, reply), index)
  );
  assert(mean(distances) < 0.01, `mean ${mean(distances)}`);
});

Deno.test("every kind of processor gets the same vectors and comparisons to the last bit", async () => {
  const some = trained.slice(0, 12);
  const [first, ...others] = await Promise.all(BUILDS.map(async (build) => {
    const model = await loadModel(build);
    return { vectors: model.encode(LONG_TEXTS), compared: model.compare(encodePairs(model, some)) };
  }));
  for (const other of others) assertEquals(other, first);
});

// A machine that gives other numbers scores other than the rest.
Deno.test("the vectors are the same on every machine", async () => {
  const [encoded] = (await loadModel()).encode([once.text]);
  assertEquals([...encoded!.vector], once.vector);
});

Deno.test("a text has the same vector alone and among others, whatever their lengths", async () => {
  const model = await loadModel();
  const texts = [...TEXTS, "word ".repeat(300), ...TEXTS, "many words ".repeat(60)];
  const together = model.encode(texts);
  for (const [index, text] of texts.entries()) {
    assertEquals(model.encode([text]), [together[index]!], text.slice(0, 20));
  }
});

Deno.test("a pair is compared alike alone and among others", async () => {
  const model = await loadModel();
  const pairs = encodePairs(model, trained.slice(0, 12));
  assertEquals(pairs.flatMap((pair) => model.compare([pair])), model.compare(pairs));
});

Deno.test("a model that is joined gives the same, and writes only into its own room", async () => {
  const model = await loadModel();
  const shared = model.share();
  const expected = model.encode(LONG_TEXTS);
  const joined = joinSentenceModel(shared);
  const { modelEnd, end } = layOut();
  const memory = new Uint8Array(shared.memory.buffer);
  memory.fill(0xff, modelEnd, end); // the room of the first
  const before = memory.slice(0, end);
  assertEquals(joined.encode(LONG_TEXTS), expected);
  const pairs = encodePairs(joined, trained.slice(0, 5));
  joined.compare(pairs);
  assert(before.every((byte, address) => memory[address] === byte));
  assertEquals(joined.compare(pairs), model.compare(pairs));
});

Deno.test("the memory has rooms for as many encoders as there may be, each its own", () => {
  const { modelEnd, end } = layOut();
  const bytes = end - modelEnd;
  const memory = createMemory();
  for (let i = 0; i < MOST_ENCODERS; i++) {
    assertEquals(takeRoom(memory, modelEnd, bytes), modelEnd + i * bytes);
  }
  assertThrows(() => {
    for (let i = 0; i < MOST_ENCODERS; i++) takeRoom(memory, modelEnd, bytes);
  }, RangeError);
});

Deno.test("a runtime with relaxed SIMD uses it, and arm64 the build for many registers", () => {
  const isArm = Deno.build.arch === "aarch64";
  assert(isArm ? bestBuild() === "relaxed" : bestBuild() !== "plain", bestBuild());
});

Deno.test("a text says how much of it the model does not know", async () => {
  const model = await loadModel();
  const [known, none] = model.encode(["A man is opening a door.", "ᚠᚢᚦ ᚨᚱᚲ"]);
  assertEquals([known!.unknown, none!.unknown], [0, 1]);
});
