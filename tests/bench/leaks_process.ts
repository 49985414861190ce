// deno-lint-ignore-file no-console -- a bench speaks to its terminal
/** Finds 400 scenarios in 100,000 rows, half of them longer texts, and says what that took. */
import { cpuUsage } from "node:process";
import { createLocalEmbedder } from "../../eval/score/local_encoder.ts";
import { findLeaks } from "../../eval/figures/leaks/find_leaks.ts";
import { readTrainingTexts } from "../../eval/figures/leaks/training_texts.ts";
import type { Scenario } from "../../eval/test/scenario.ts";
import { createRandom } from "./random.ts";

export interface LeakMeasurement {
  tests: number;
  rows: number;
  seconds: number;
  /** Seconds of the processors, for the file and everything else. */
  processor: number;
  /** Until the last row was read. */
  readSeconds: number;
  /** Bytes, at most. */
  rss: number;
  /** The longest stretch without the event loop, in milliseconds. */
  stretch: number;
}

const TESTS = 400;
const ROWS = 100_000;
const random = createRandom(3);
/** Frequent words are frequent here, too. */
const vocabulary = Array.from(
  { length: 20_000 },
  (_, index) => `${"bcdfglmnprst"[index % 12]}${"aeiou"[index % 5]}${index.toString(36)}`,
);
const word = () => vocabulary[Math.floor(vocabulary.length * random() ** 4)]!;
const text = (length: number) => Array.from({ length }, word).join(" ");

const scenarios: Scenario[] = Array.from({ length: TESTS }, (_, index) => ({
  id: `s${index}`,
  description: "",
  interactions: [{
    id: "1",
    user_message: text(12),
    reference_reply: text(30),
    agent_reply: "",
    interaction_type: "opening",
    reference_metadata: {},
    generated_metadata: {},
  }],
}));

let rss = 0;
let stretch = 0;
let ranAt = performance.now();
const watch = setInterval(() => {
  stretch = Math.max(stretch, performance.now() - ranAt);
  ranAt = performance.now();
  rss = Math.max(rss, Deno.memoryUsage().rss);
}, 5);

async function* file() {
  for (let row = 0; row < ROWS; row++) {
    const messages = [
      { role: "user", content: text(row % 2 ? 12 : 60) },
      { role: "assistant", content: text(row % 2 ? 30 : 90) },
    ];
    yield `${JSON.stringify({ messages })}\n`;
  }
}

const training = readTrainingTexts(file());
using embedder = createLocalEmbedder({ workers: 2 });
const started = performance.now();
let readAt = started;
async function* texts() {
  yield* training.texts;
  readAt = performance.now();
}
await findLeaks(scenarios, texts(), { embedder, signal: new AbortController().signal });
const measured: LeakMeasurement = {
  tests: TESTS,
  rows: ROWS,
  seconds: (performance.now() - started) / 1000,
  processor: (cpuUsage().user + cpuUsage().system) / 1e6,
  readSeconds: (readAt - started) / 1000,
  rss,
  stretch,
};
clearInterval(watch);
console.log(JSON.stringify(measured));
