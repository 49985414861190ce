// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import { MINILM } from "../../eval/assess/embeddings/bert/minilm.ts";
import { createSentenceModel } from "../../eval/assess/embeddings/bert/sentence_model.ts";
import type { ModelSource } from "../../eval/assess/embeddings/bert/weight_piece.ts";
import { product } from "../../eval/assess/vectors.ts";
import { createReferenceModel } from "../fakes/reference_bert.ts";
import type { EncoderFigures } from "./encoder_process.ts";
import { createTexts, type EncoderTexts, MODELS } from "./encoder_texts.ts";
import { report } from "./measure.ts";
import { LANGUAGES, readEquivalentPairs } from "./similarity.ts";

const ROUNDS = 3;
const COMPARED = 1000;

/** What the sentence encoders cost with texts that all differ, and how near they are to the models. */
export async function encoderCost(): Promise<void> {
  for (const model of MODELS) {
    console.log(`  ${model.name}`);
    const texts = await createTexts(model.name);
    const rounds: EncoderFigures[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await measure(model.name));
    reportCost(rounds, texts);
    const compared = model === MINILM ? await readCompared() : writeCompared(texts);
    await compareWithReference(model, compared);
  }
}

function reportCost(rounds: EncoderFigures[], { unit, lengths }: EncoderTexts): void {
  const show = (
    what: string,
    of: (round: EncoderFigures) => number,
    form: { unit: string; bound: number; digits: number },
  ) => report(what, rounds.map(of), form);
  const ready = { unit: "ms", bound: 400, digits: 0 };
  show("until the first vector", ({ readyMs }) => readyMs, ready);
  show("processor time until then", ({ readyCpuMs }) => readyCpuMs, ready);
  for (const [index, [, length]] of lengths.entries()) {
    const what = `processor time a ${unit}, texts of ${length} ${unit}s`;
    show(what, ({ cpuMs }) => cpuMs[index]!, { unit: "ms", bound: 0.4, digits: 3 });
  }
  const memory = { unit: "MB", bound: 120, digits: 0 };
  show("memory added by one worker", ({ addedMb }) => addedMb, memory);
}

/** In a process of its own, so that no other encoder counts. */
async function measure(name: string): Promise<EncoderFigures> {
  const script = new URL("encoder_process.ts", import.meta.url).pathname;
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", `--config=${config}`, "-A", script, name],
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`cannot measure the encoder ${name}`);
  return JSON.parse(new TextDecoder().decode(stdout));
}

async function readCompared(): Promise<string[]> {
  const pairs = (await Promise.all(LANGUAGES.map(readEquivalentPairs))).flat(2);
  const beginnings = pairs.map((text) => text.split(" ").slice(0, 3).join(" "));
  return [...new Set([...pairs, ...beginnings])].slice(0, COMPARED);
}

/** A quarter as many: the model in plain loops takes a quarter of a second per text. */
function writeCompared({ write }: EncoderTexts): string[] {
  return Array.from({ length: COMPARED / 4 }, (_, i) => write(i, 4 + i % 20));
}

/** The smallest cosine with the published model in 32-bit floats, over texts of our own. */
async function compareWithReference(source: ModelSource, texts: string[]): Promise<void> {
  const model = createSentenceModel(source.shape);
  for await (const piece of source.read()) model.load(piece);
  const reference = await createReferenceModel(source);
  let least = 1;
  for (const text of texts) {
    least = Math.min(
      least,
      product(model.encode([text])[0]!.vector, reference.encode(text).vector),
    );
  }
  console.log(`  compared with the published model: ${texts.length} texts`);
  report("the smallest cosine", least, { atLeast: 0.99, digits: 4 });
}
