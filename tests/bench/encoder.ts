import type { EncoderFigures } from "./encoder_process.ts";
import { LENGTHS } from "./encoder_texts.ts";
import { report } from "./measure.ts";

const ROUNDS = 3;

/** What the sentence encoder costs with texts that all differ. */
export async function encoderCost(): Promise<void> {
  const rounds: EncoderFigures[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await measure());
  const show = (
    what: string,
    of: (round: EncoderFigures) => number,
    form: { unit: string; bound: number; digits: number },
  ) => report(what, rounds.map(of), form);
  const ready = { unit: "ms", bound: 400, digits: 0 };
  show("until the first vector", ({ readyMs }) => readyMs, ready);
  show("processor time until then", ({ readyCpuMs }) => readyCpuMs, ready);
  for (const [index, [, length]] of LENGTHS.entries()) {
    const what = `processor time a word, texts of ${length} words`;
    show(what, ({ cpuMs }) => cpuMs[index]!, { unit: "ms", bound: 0.4, digits: 3 });
  }
  const memory = { unit: "MB", bound: 120, digits: 0 };
  show("memory added by one worker", ({ addedMb }) => addedMb, memory);
}

/** In a process of its own, so that no other encoder counts. */
async function measure(): Promise<EncoderFigures> {
  const script = new URL("encoder_process.ts", import.meta.url).pathname;
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", `--config=${config}`, "-A", script],
    stderr: "inherit",
  }).output();
  if (!success) throw new Error("cannot measure the encoder");
  return JSON.parse(new TextDecoder().decode(stdout));
}
