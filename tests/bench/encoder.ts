// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import process from "node:process";
import { product } from "../../eval/assess/embeddings/embedder.ts";
import { createLocalEmbedder } from "../../eval/assess/embeddings/local.ts";
import { createMiniLM } from "../../eval/assess/embeddings/minilm/minilm.ts";
import { readPackage } from "../../eval/assess/embeddings/minilm/weights.ts";
import { createReferenceMiniLM } from "../fakes/reference_minilm.ts";
import { report } from "./measure.ts";
import { LANGUAGES, readEquivalentPairs } from "./similarity.ts";

const COMPARED = 1000;

/** What the sentence encoder costs with texts that all differ, and how near it is to the model. */
export async function encoderCost(): Promise<void> {
  const words = (await Deno.readTextFile(new URL("../../README.md", import.meta.url)))
    .match(/[A-Za-z][a-z']+/g)!;
  const before = process.memoryUsage().rss;
  const started = cpuMs();
  using embedder = createLocalEmbedder();
  await embedder.embed("a");
  report("processor time until the first vector", cpuMs() - started, {
    unit: "ms",
    bound: 400,
    digits: 0,
  });
  const texts = (count: number, length: number) =>
    Array.from({ length: count }, (_, i) => {
      const start = i * 37 % (words.length - length);
      return `${i} ${words.slice(start, start + length - 1).join(" ")}`;
    });
  await Promise.all(texts(64, 12).map(embedder.embed)); // the kernel is compiled anew as it is used
  for (const [count, length] of [[256, 18], [64, 80]] as const) {
    const from = cpuMs();
    await Promise.all(texts(count, length).map(embedder.embed));
    report(`processor time a word, texts of ${length} words`, (cpuMs() - from) / count / length, {
      unit: "ms",
      digits: 3,
    });
  }
  report("memory added by one worker", (process.memoryUsage().rss - before) / 1e6, {
    unit: "MB",
    bound: 120,
    digits: 0,
  });
  await compareWithReference();
}

/** The smallest cosine with the published model in 32-bit floats, over texts of our own. */
async function compareWithReference(): Promise<void> {
  const model = createMiniLM();
  for await (const piece of readPackage()) model.load(piece);
  const reference = await createReferenceMiniLM();
  const pairs = (await Promise.all(LANGUAGES.map(readEquivalentPairs))).flat(2);
  const parts = pairs.map((text) => text.split(" ").slice(0, 3).join(" "));
  const texts = [...new Set([...pairs, ...parts])].slice(0, COMPARED);
  let least = 1;
  for (const text of texts) {
    least = Math.min(least, product(model.encode([text])[0]!, reference(text)));
  }
  console.log(`  compared with the published model: ${texts.length} texts`);
  report("the smallest cosine", least, { atLeast: 0.99, digits: 4 });
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
