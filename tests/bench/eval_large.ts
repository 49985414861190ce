import type { LargeRun, LargeRuns } from "./large_process.ts";
import { report, startEndpoint } from "./measure.ts";

const ROUNDS = 3;

/** Large runs in one request: how long they block the event loop, and their memory. */
export async function evalLarge(): Promise<void> {
  await using endpoint = await startEndpoint();
  await manyScenarios(endpoint.url(0));
  await manyAttempts(endpoint.url(0, "/few/3200"));
}

/** One scenario × 1,000 attempts, replies of 20 kB. */
async function manyAttempts(endpoint: string): Promise<void> {
  const rounds: LargeRuns[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push(await measure(endpoint, { scenarios: 1, attempts: 1000 }));
  }
  const answer = megabytes(rounds[0]!.first.answerBytes);
  report("1 scenario × 1,000 attempts × 20 kB: answer", answer, { unit: "MB", digits: 1 });
  const stretches = rounds.map(({ first }) => first.longestStretch);
  report("its longest stretch without the event loop", stretches, {
    unit: "ms",
    bound: 50,
    digits: 1,
  });
  const processor = rounds.map(({ first }) => first.mostProcessor);
  report("processor time in one stretch", processor, { unit: "ms", bound: 50, digits: 1 });
  const grown = rounds.map(({ live }) => megabytes(live.peak - live.before));
  report("live heap grown by, at its peak", grown, { unit: "MB", bound: 60, digits: 1 });
}

/** 1,000 scenarios × 10 attempts. */
async function manyScenarios(endpoint: string): Promise<void> {
  const { first, second, live } = await measure(endpoint, { scenarios: 1000, attempts: 10 });
  const answer = megabytes(first.answerBytes);
  const grown = ({ peakRss, rssBefore }: LargeRun) => megabytes(peakRss - rssBefore);
  const memory = { unit: "MB", bound: Math.round(answer), digits: 0 };
  report("10,000 conversations", first.ms, { unit: "ms", digits: 0 });
  report("longest stretch without the event loop", first.longestStretch, {
    unit: "ms",
    bound: 50,
    digits: 1,
  });
  report("answer", answer, { unit: "MB", digits: 1 });
  report("live heap grown by, at its peak", megabytes(live.peak - live.before), memory);
  report("live heap grown by, afterwards", megabytes(live.after - live.before), memory);
  report("process grown by, at its peak", grown(second), memory);
  // What it keeps then is working memory of the encoder and the garbage collector.
  report("process grown by, at its peak: its first large run", grown(first), {
    unit: "MB",
    digits: 0,
  });
}

/** In a process of its own, so that nothing else counts. */
async function measure(
  endpoint: string,
  { scenarios, attempts }: { scenarios: number; attempts: number },
): Promise<LargeRuns> {
  const script = new URL("large_process.ts", import.meta.url).pathname;
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--v8-flags=--expose-gc", script, endpoint, `${scenarios}`, `${attempts}`],
    stderr: "inherit",
  }).output();
  if (!success) throw new Error("the large run failed");
  return JSON.parse(new TextDecoder().decode(stdout));
}

function megabytes(bytes: number): number {
  return bytes / 2 ** 20;
}
