import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { MOST_ENCODERS } from "../../../../eval/config.ts";

import { product } from "../../../../eval/assess/vectors.ts";
import { BGE_ZH } from "../../../../eval/assess/embeddings/bert/bge_zh.ts";
import { readImage, writeImage } from "../../../../eval/assess/embeddings/bert/weight_files.ts";
import { bestBuild, type KernelBuild } from "../../../../eval/assess/embeddings/bert/kernel.ts";
import { createMemory, layOut, takeRoom } from "../../../../eval/assess/embeddings/bert/layout.ts";
import { MINILM } from "../../../../eval/assess/embeddings/bert/minilm.ts";
import {
  createSentenceModel,
  joinSentenceModel,
  type SentenceModel,
} from "../../../../eval/assess/embeddings/bert/sentence_model.ts";
import { vocabularyOf } from "../../../../eval/assess/embeddings/bert/weight_piece.ts";
import { createReferenceModel } from "../../../fakes/reference_bert.ts";

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

/** The beginnings of the vectors of two texts, written down once on arm64. */
const MODELS = [
  {
    source: MINILM,
    text: "A man is opening a door.",
    expected: [0.04428688, -0.01558330, -0.04050981, 0.03476756, -0.05909125, -0.02714232],
  },
  {
    source: BGE_ZH,
    text: "您的订单已经发货。",
    expected: [0.02749579, -0.01211707, 0.08088477, 0.02613925, 0.04215751, -0.01861230],
  },
];

type Source = typeof MINILM;
const loaded = new Map<string, Promise<SentenceModel>>();

/** Loads a model once: it takes a second. */
function loadModel(source = MINILM, build = bestBuild()): Promise<SentenceModel> {
  const name = `${source.name} ${build}`;
  const model = loaded.get(name) ?? load(source, build);
  loaded.set(name, model);
  return model;
}

async function load(source: Source, build: KernelBuild): Promise<SentenceModel> {
  const model = createSentenceModel(source.shape, build);
  for await (const piece of source.read()) model.load(piece);
  return model;
}

for (const { source, text, expected } of MODELS) {
  Deno.test(`the vectors of ${source.name} are those of the published model, within a cosine of 0.99`, async () => {
    const [model, reference] = await Promise.all([
      loadModel(source),
      createReferenceModel(source),
    ]);
    for (const [index, { vector }] of model.encode(TEXTS).entries()) {
      const nearness = product(vector, reference.encode(TEXTS[index]!).vector);
      assert(nearness > 0.99 && nearness < 1 + 1e-6, `"${TEXTS[index]}": ${nearness}`);
    }
  });

  Deno.test(`every kind of processor gets the same vectors of ${source.name} to the last bit`, async () => {
    const [first, ...others] = await Promise.all(
      BUILDS.map(async (build) => (await loadModel(source, build)).encode(LONG_TEXTS)),
    );
    for (const other of others) assertEquals(other, first);
  });

  // A machine that gives other numbers scores other than the rest.
  Deno.test(`the vectors of ${source.name} are the same on every machine`, async () => {
    const [encoded] = (await loadModel(source)).encode([text]);
    expected.forEach((value, index) => assertAlmostEquals(encoded!.vector[index]!, value, 1e-6));
  });
}

Deno.test("a text has the same vector alone and among others, whatever their lengths", async () => {
  const model = await loadModel();
  const texts = [...TEXTS, "word ".repeat(300), ...TEXTS, "many words ".repeat(60)];
  const together = model.encode(texts);
  for (const [index, text] of texts.entries()) {
    assertEquals(model.encode([text]), [together[index]!], text.slice(0, 20));
  }
});

Deno.test("a model that is joined gives the same vectors, and writes only into its own room", async () => {
  const model = await loadModel();
  const shared = model.share();
  const joined = joinSentenceModel(MINILM.shape, shared);
  const expected = model.encode(LONG_TEXTS);
  const { modelEnd, end } = layOut(MINILM.shape);
  const memory = new Uint8Array(shared.memory.buffer);
  memory.fill(0xff, modelEnd, end); // the room of the first
  const before = memory.slice(0, end);
  assertEquals(joined.encode(LONG_TEXTS), expected);
  assert(before.every((byte, address) => memory[address] === byte));
  assertStrictEquals(joined.share().memory, shared.memory);
});

for (const { shape, name } of [MINILM, BGE_ZH]) {
  Deno.test(`the memory has rooms for as many encoders as ${name} may have, each its own`, () => {
    const { modelEnd, end } = layOut(shape);
    const bytes = end - modelEnd;
    const memory = createMemory();
    for (let i = 0; i < MOST_ENCODERS; i++) {
      assertEquals(takeRoom(memory, modelEnd, bytes), modelEnd + i * bytes);
    }
    assertThrows(() => {
      for (let i = 0; i < MOST_ENCODERS; i++) takeRoom(memory, modelEnd, bytes);
    }, RangeError);
  });
}

Deno.test("a runtime with relaxed SIMD uses it, and arm64 the build for many registers", () => {
  const isArm = Deno.build.arch === "aarch64";
  assert(isArm ? bestBuild() === "relaxed" : bestBuild() !== "plain", bestBuild());
});

Deno.test("a model that was packed is the same on another kind of processor", async () => {
  const model = createSentenceModel(MINILM.shape, "relaxed");
  let vocabulary: string[] = [];
  for await (const piece of MINILM.read()) {
    model.load(piece);
    vocabulary = vocabularyOf(piece) ?? vocabulary;
  }
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeFile(path, writeImage(vocabulary, model.image()));
    const packed = createSentenceModel(MINILM.shape, "pairs");
    for await (const piece of readImage(path)) packed.load(piece);
    assertEquals(packed.encode(TEXTS), model.encode(TEXTS));
  } finally {
    await Deno.remove(path);
  }
});
