// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import process from "node:process";
import { BGE_ZH } from "../../eval/assess/embeddings/bert/bge_zh.ts";
import { MINILM } from "../../eval/assess/embeddings/bert/minilm.ts";
import { createSentenceModel } from "../../eval/assess/embeddings/bert/sentence_model.ts";
import type { ModelSource } from "../../eval/assess/embeddings/bert/weight_piece.ts";
import { product } from "../../eval/assess/embeddings/embedder.ts";
import { createLocalEmbedder } from "../../eval/assess/embeddings/local.ts";
import { createReferenceModel } from "../fakes/reference_bert.ts";
import { elapsedMs, report } from "./measure.ts";
import { LANGUAGES, readEquivalentPairs } from "./similarity.ts";

const COMPARED = 1000;

/** What the sentence encoders cost with texts that all differ, and how near they are to the models. */
export async function encoderCost(): Promise<void> {
  const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  const words = readme.match(/[A-Za-z][a-z']+/g)!;
  const characters = [...(await readEquivalentPairs("zh")).flat().join("")];
  const pairs = (await Promise.all(LANGUAGES.map(readEquivalentPairs))).flat(2);
  const beginnings = pairs.map((text) => text.split(" ").slice(0, 3).join(" "));
  await measure(MINILM, {
    unit: "word",
    lengths: [[256, 18], [64, 80]],
    write: (i, length) => `${i} ${cut(words, { i, length: length - 1 }).join(" ")}`,
    compared: [...pairs, ...beginnings],
  });
  await measure(BGE_ZH, {
    unit: "character",
    lengths: [[256, 24], [64, 120]],
    write: (i, length) => cut(characters, { i, length }).join(""),
    compared: Array.from(
      { length: COMPARED / 4 }, // the model in plain loops takes a quarter of a second a text
      (_, i) => cut(characters, { i, length: 4 + i % 20 }).join(""),
    ),
  });
}

interface Texts {
  unit: string;
  /** How many texts of which length are timed. */
  lengths: [count: number, length: number][];
  write(i: number, length: number): string;
  /** What the vectors are compared with the published model's on. */
  compared: string[];
}

async function measure(model: ModelSource, { unit, lengths, write, compared }: Texts) {
  console.log(`  ${model.name}`);
  const before = process.memoryUsage().rss;
  const started = cpuMs();
  using embedder = createLocalEmbedder({ model });
  const readyMs = await elapsedMs(() => embedder.embed("a"));
  report("until the first vector", readyMs, { unit: "ms", bound: 400, digits: 0 });
  report("processor time until then", cpuMs() - started, { unit: "ms", bound: 400, digits: 0 });
  const encode = (count: number, length: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => embedder.embed(write(i, length))));
  await encode(64, 12); // the kernel is compiled anew as it is used
  for (const [count, length] of lengths) {
    const from = cpuMs();
    await encode(count, length);
    report(
      `processor time a ${unit}, texts of ${length} ${unit}s`,
      (cpuMs() - from) / count / length,
      { unit: "ms", bound: 0.4, digits: 3 },
    );
  }
  const added = (process.memoryUsage().rss - before) / 1e6;
  report("memory added by one worker", added, { unit: "MB", bound: 120, digits: 0 });
  await compareWithReference(model, [...new Set(compared)].slice(0, COMPARED));
}

/** The smallest cosine with the published model in 32-bit floats, over texts of our own. */
async function compareWithReference(source: ModelSource, texts: string[]): Promise<void> {
  const model = createSentenceModel(source.shape);
  for await (const piece of source.read()) model.load(piece);
  const reference = await createReferenceModel(source);
  let least = 1;
  for (const text of texts) {
    least = Math.min(least, product(model.encode([text])[0]!, reference(text)));
  }
  console.log(`  compared with the published model: ${texts.length} texts`);
  report("the smallest cosine", least, { atLeast: 0.99, digits: 4 });
}

/** A piece of some words or characters, another one for each `i`. */
function cut(parts: string[], { i, length }: { i: number; length: number }): string[] {
  const start = i * 37 % (parts.length - length);
  return parts.slice(start, start + length);
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
