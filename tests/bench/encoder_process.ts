// deno-lint-ignore-file no-console -- speaks to the process that started it
/** What the sentence encoder costs with one worker, as JSON. */
import process from "node:process";
import { createLocalEmbedder } from "../../eval/score/local_encoder.ts";
import { createTexts, LENGTHS } from "./encoder_texts.ts";
import { elapsedMs } from "./measure.ts";

export interface EncoderFigures {
  /** Until the first vector. */
  readyMs: number;
  /** Processor time until then. */
  readyCpuMs: number;
  /** Processor time a word, for each of `LENGTHS`. */
  cpuMs: number[];
  addedMb: number;
}

if (import.meta.main) {
  console.log(JSON.stringify(await measure()));
}

async function measure(): Promise<EncoderFigures> {
  const write = await createTexts();
  const rssBefore = process.memoryUsage().rss;
  const cpuBefore = readCpuMs();
  using embedder = createLocalEmbedder();
  const readyMs = await elapsedMs(() => embedder.embed("a"));
  const readyCpuMs = readCpuMs() - cpuBefore;
  const encode = (count: number, length: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => embedder.embed(write(i, length))));
  await encode(64, 12); // the kernel is compiled anew as it is used
  const cpuMs: number[] = [];
  for (const [count, length] of LENGTHS) {
    const from = readCpuMs();
    await encode(count, length);
    cpuMs.push((readCpuMs() - from) / count / length);
  }
  return { readyMs, readyCpuMs, cpuMs, addedMb: (process.memoryUsage().rss - rssBefore) / 1e6 };
}

function readCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
