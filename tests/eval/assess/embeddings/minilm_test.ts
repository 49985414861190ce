import { assert, assertAlmostEquals, assertEquals, assertRejects } from "@std/assert";
import { createWorkerCall } from "../../../../shared/background/worker_call.ts";
import { product } from "../../../../eval/assess/embeddings/embedder.ts";
import {
  type EncoderInput,
  startEncoder,
} from "../../../../eval/assess/embeddings/encoder_start.ts";
import { bestBuild, type KernelBuild } from "../../../../eval/assess/embeddings/minilm/kernel.ts";
import {
  createMiniLM,
  type SentenceModel,
} from "../../../../eval/assess/embeddings/minilm/minilm.ts";
import {
  readImage,
  readPackage,
  type WeightPiece,
  writeImage,
} from "../../../../eval/assess/embeddings/minilm/weights.ts";
import { createReferenceMiniLM } from "../../../fakes/reference_minilm.ts";

const TEXTS = [
  "Thanks!",
  "A man is opening a door.",
  "Wo ist mein Paket?",
  "您的订单已经发货。",
  "",
];

async function loadModel(build?: KernelBuild): Promise<SentenceModel> {
  const model = createMiniLM(build);
  for await (const piece of readPackage()) model.load(piece);
  return model;
}

Deno.test("the vectors are those of the published model, within a cosine of 0.99", async () => {
  const [model, reference] = await Promise.all([loadModel(), createReferenceMiniLM()]);
  for (const [index, vector] of model.encode(TEXTS).entries()) {
    const nearness = product(vector, reference(TEXTS[index]!));
    assert(nearness > 0.99 && nearness < 1 + 1e-6, `"${TEXTS[index]}": ${nearness}`);
  }
});

Deno.test("a processor without relaxed SIMD gets the same vectors to the last bit", async () => {
  assertEquals(bestBuild(), "relaxed");
  const [relaxed, plain] = await Promise.all([loadModel("relaxed"), loadModel("plain")]);
  assertEquals(plain.encode(TEXTS), relaxed.encode(TEXTS));
});

Deno.test("a text has the same vector alone and among others, whatever their lengths", async () => {
  const model = await loadModel();
  const texts = [...TEXTS, "word ".repeat(300), ...TEXTS, "many words ".repeat(60)];
  const together = model.encode(texts);
  for (const [index, text] of texts.entries()) {
    assertEquals(model.encode([text]), [together[index]!], text.slice(0, 20));
  }
});

// Written down once on arm64: a machine that gives other numbers scores other than the rest.
Deno.test("the vectors are the same on every machine", async () => {
  const [vector] = (await loadModel()).encode(["A man is opening a door."]);
  EXPECTED.forEach((value, index) => assertAlmostEquals(vector![index]!, value, 1e-6));
});
const EXPECTED = [0.04144139, -0.01493898, -0.04096377, 0.03571993, -0.05918118, -0.02745399];

Deno.test("a model that was packed and read back is the same", async () => {
  const model = createMiniLM();
  let vocabulary = "";
  for await (const piece of readPackage()) {
    model.load(piece);
    if (piece.kind === "vocabulary") vocabulary = piece.text;
  }
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeFile(path, writeImage(vocabulary, model.image()));
    const packed = createMiniLM();
    for await (const piece of readImage(path)) packed.load(piece);
    assertEquals(packed.encode(TEXTS), model.encode(TEXTS));
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("without weights every call says why", async () => {
  // deno-lint-ignore require-yield -- a file that is not there
  async function* read(): AsyncGenerator<WeightPiece> {
    await Promise.reject(new Error("no such file"));
  }
  using call = createWorkerCall<EncoderInput, Float32Array[]>(() => startEncoder(read));
  for (let i = 0; i < 2; i++) {
    await assertRejects(() => call({ texts: ["a"] }), Error, "no such file");
  }
});
