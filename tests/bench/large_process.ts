// deno-lint-ignore-file no-console -- speaks to the process that started it
/**
 * `large_process.ts ENDPOINT SCENARIOS ATTEMPTS`: three such runs, one after another, by a service
 * that was warmed by a tenth of one. Prints as JSON what they took. Needs `--expose-gc`.
 */
import { createBatch, createEvaluator } from "./eval_service.ts";
import { watchEventLoop } from "./event_loop.ts";

/** Sizes in bytes. */
export interface LargeRun {
  ms: number;
  answerBytes: number;
  /** In milliseconds. */
  longestStretch: number;
  /** The most processor time between two turns of the event loop, in milliseconds. */
  mostProcessor: number;
  rssBefore: number;
  peakRss: number;
}

export interface LargeRuns {
  first: LargeRun;
  second: LargeRun;
  /** What was reachable before, during and after a run; garbage is collected before each look. */
  live: { before: number; peak: number; after: number };
}

const SAMPLE_MS = 20;
/** Collecting takes a while itself. */
const LIVE_SAMPLE_MS = 250;

const collectGarbage = (globalThis as unknown as { gc: () => void }).gc;

if (import.meta.main) {
  const [endpoint = "", scenarios, attempts] = Deno.args;
  console.log(JSON.stringify(await measureRuns(endpoint, Number(scenarios), Number(attempts))));
  Deno.exit(0); // the workers of an evaluation wait for the next one
}

async function measureRuns(
  endpoint: string,
  scenarios: number,
  attempts: number,
): Promise<LargeRuns> {
  await using evaluator = await createEvaluator();
  const run = () => evaluator.evaluate(createBatch(scenarios, 1), endpoint, attempts);
  const small = createBatch(Math.ceil(scenarios / 10), 1);
  await evaluator.evaluate(small, endpoint, scenarios === 1 ? attempts / 10 : attempts);
  const first = await measureRun(run);
  const second = await measureRun(run);
  const live = await measureLive(run);
  return { first, second, live };
}

async function measureRun(run: () => Promise<number>): Promise<LargeRun> {
  await rest();
  const rssBefore = Deno.memoryUsage().rss;
  const rss = watchPeak(() => Deno.memoryUsage().rss, SAMPLE_MS);
  const stretch = watchEventLoop();
  const started = performance.now();
  const answerBytes = await run();
  const ms = performance.now() - started;
  return {
    ms,
    answerBytes,
    longestStretch: stretch.stop(),
    mostProcessor: stretch.processorMs(),
    rssBefore,
    peakRss: rss.stop(),
  };
}

async function measureLive(run: () => Promise<number>): Promise<LargeRuns["live"]> {
  await rest();
  const before = liveHeap();
  const heap = watchPeak(liveHeap, LIVE_SAMPLE_MS);
  await run();
  const peak = heap.stop();
  await rest();
  return { before, peak, after: liveHeap() };
}

function liveHeap(): number {
  collectGarbage();
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

function watchPeak(look: () => number, everyMs: number) {
  let peak = look();
  const timer = setInterval(() => peak = Math.max(peak, look()), everyMs);
  return {
    stop() {
      clearInterval(timer);
      return Math.max(peak, look());
    },
  };
}

/** What the run before has left behind is not counted as this one's. */
async function rest(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 500));
  collectGarbage();
}
