import { createLocalEmbedder } from "../../eval/score/local_encoder.ts";
import { programOf } from "../fakes/service_process.ts";
import { readPeakMb } from "./agent_process.ts";
import { CONCURRENCY, createEvaluator } from "./eval_service.ts";
import { elapsedMs, ratios, report, startEndpoint } from "./measure.ts";
import { createText } from "./varied_texts.ts";

const ROUNDS = 5;
/** Rounds with texts that are all encoded: they take some ten seconds each. */
const LONG_ROUNDS = 3;
/** Of a usual reply. */
const WORDS = 18;
const TURNS = 2;

type Batch = ReturnType<typeof createVariedBatch>;

/**
 * Every reference differs from every other, also from those of another batch that starts elsewhere.
 * The question names the reply that is expected.
 */
function createVariedBatch(scenarios: number, { words = WORDS, from = 0 } = {}) {
  return Array.from({ length: scenarios }, (_, scenario) => ({
    id: `scenario-${scenario}`,
    interactions: Array.from({ length: TURNS }, (_, turn) => {
      const text = createText(from + scenario * TURNS + turn, words);
      return {
        id: `${scenario}.${turn}`,
        user_message: `Say: ${text}`,
        reference_reply: text,
      };
    }),
  }));
}

/**
 * 1,200 calls with some 520 different texts: every tenth reply has errors, the others are their
 * references. A cold command line and a bare Node loop, both from the start of their process to its
 * end; and the warm service.
 */
export async function mostlyRight(): Promise<void> {
  await using endpoint = await startEndpoint();
  await using evaluator = await createEvaluator();
  const batch = createVariedBatch(200);
  const folder = await Deno.makeTempDir();
  const path = `${folder}/batch.jsonl`;
  await Deno.writeTextFile(path, batch.map((scenario) => JSON.stringify(scenario)).join("\n"));
  for (const delay of [0, 50]) {
    const url = endpoint.url(delay, "/echo");
    const loops: number[] = [];
    const cold: Measured[] = [];
    const warm: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      loops.push((await runProcess("node", bareLoop(path, url))).ms);
      cold.push(await runCommandLine({ path, url, data: `${folder}/${delay}-${round}.db` }));
      warm.push(await elapsedMs(() => evaluator.evaluate(batch, url, 3)));
    }
    const title = `520 texts, ${delay} ms endpoint:`;
    const times = cold.map(({ ms }) => ms);
    report(`${title} bare Node loop`, loops, { unit: "ms", digits: 0 });
    report(`${title} cold command line`, times, { unit: "ms", digits: 0 });
    report(`${title} cold command line / loop`, ratios(times, loops), { unit: "×", bound: 2 });
    report(`${title} its largest memory`, Math.max(...cold.map(({ peakMb }) => peakMb)), {
      unit: "MB",
      bound: 300,
      digits: 0,
    });
    const [first, ...later] = ratios(warm, loops);
    report(`${title} warm service / loop (first round)`, first!, { unit: "×" });
    report(`${title} warm service / loop (later rounds)`, later, { unit: "×" });
  }
  await Deno.remove(folder, { recursive: true });
}

/**
 * No reply is like another, so that every text is encoded: against the pure encoding of them by one
 * worker, divided by the workers of the service. Those workers also compare each reply with its
 * reference, which the bound of before does not include.
 */
export async function allDifferent(): Promise<void> {
  await using endpoint = await startEndpoint();
  await using evaluator = await createEvaluator();
  for (const [words, scenarios, attempts] of [[WORDS, 100, 2], [120, 40, 1]] as const) {
    const url = endpoint.url(0, `/fresh/${words}`);
    await evaluator.evaluate(createVariedBatch(8, { words: words + 1 }), url, 1); // starts the encoder
    const whole: number[] = [];
    const encoding: number[] = [];
    for (let round = 0; round < LONG_ROUNDS; round++) {
      const batch = createVariedBatch(scenarios, { words, from: round * scenarios * TURNS });
      whole.push(await elapsedMs(() => evaluator.evaluate(batch, url, attempts)));
      encoding.push(await encodeAlone(batch, { words, replies: scenarios * TURNS * attempts }));
    }
    const title = `every reply different, ${words} words:`;
    report(`${title} encoding alone`, encoding, { unit: "ms", digits: 0 });
    const { encoders } = evaluator;
    const divided = encoding.map((ms) => ms / encoders);
    report(`${title} evaluation / encoding by ${encoders}`, ratios(whole, divided), {
      unit: "×",
      bound: 1.2,
    });
  }
}

/** As many texts as the evaluation encodes, one worker, nothing else to do. */
async function encodeAlone(
  batch: Batch,
  { words, replies }: { words: number; replies: number },
): Promise<number> {
  using embedder = createLocalEmbedder();
  await embedder.embed("a text that starts the encoder");
  const references = batch.flatMap(({ interactions }) =>
    interactions.map(({ reference_reply }) => reference_reply)
  );
  const others = Array.from({ length: replies }, (_, i) => createText(2_000_000 + i, words));
  return await elapsedMs(() => Promise.all([...references, ...others].map(embedder.embed)));
}

interface Measured {
  ms: number;
  peakMb: number;
}

function bareLoop(path: string, url: string): string[] {
  return [new URL("bare_loop.mjs", import.meta.url).pathname, path, url, "3", `${CONCURRENCY}`];
}

function runCommandLine(
  { path, url, data }: { path: string; url: string; data: string },
): Promise<Measured> {
  const options = ["--endpoint", url, "--model", "m", "--attempts", "3"];
  const { program, args } = programOf("eval");
  return runProcess(program, [...args, "run", path, ...options], {
    EVAL_DATA: data,
    EVAL_CONCURRENCY: String(CONCURRENCY),
  });
}

/** From the start of a process to its end, with the most memory it had. */
async function runProcess(
  program: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Measured> {
  const started = performance.now();
  const child = new Deno.Command(program, { args, env, stdout: "null", stderr: "piped" }).spawn();
  let peakMb = 0;
  const watch = setInterval(() => peakMb = readPeakMb(child.pid) ?? peakMb, 50);
  const { success, stderr } = await child.output();
  clearInterval(watch);
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return { ms: performance.now() - started, peakMb };
}
