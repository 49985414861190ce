import { watchEventLoop } from "./event_loop.ts";
import { createEvalHandler } from "../../eval/handler.ts";
import { openStore } from "../../eval/store/open_store.ts";
import { createEvalDeps } from "../../eval/wiring.ts";
import { EvalConfig } from "../../eval/config.ts";
import { parseConfig } from "../../shared/config.ts";
import { silentLogger } from "../../shared/log.ts";
import { elapsedMs, report, sideBySide, startEndpoint } from "./measure.ts";

const SCENARIOS = 200;
const ATTEMPTS = 3;
const TURNS = 2;
const CONCURRENCY = 32;
const CALLS = SCENARIOS * ATTEMPTS * TURNS;

/** 200 scenarios × 3 attempts × 2 turns against the limit, and against a bare `fetch` loop. */
export async function evalSpeed(): Promise<void> {
  await using endpoint = await startEndpoint();
  await using evaluator = await createEvaluator();
  const { evaluate } = evaluator;
  const batch = createBatch(SCENARIOS, TURNS);
  const run = (delayMs: number) => () => evaluate(batch, endpoint.url(delayMs), ATTEMPTS);
  await run(0)(); // warm

  const limit = CALLS * 50 / CONCURRENCY;
  report("50 ms endpoint: time / limit", await elapsedMs(run(50)) / limit, {
    unit: "×",
    bound: 1.2,
  });

  const bare: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < 5; round++) {
    bare.push(await elapsedMs(() => bareLoop(batch, endpoint.url(0))));
    ours.push(await elapsedMs(run(0)));
  }
  report("0 ms endpoint: bare fetch loop (median of 5)", median(bare), { unit: "ms", digits: 0 });
  report("0 ms endpoint: evaluation (median of 5)", median(ours), { unit: "ms", digits: 0 });
  report("0 ms endpoint: evaluation / bare fetch loop", median(ours) / median(bare), {
    unit: "×",
    bound: 2,
  });
}

/** 1,000 scenarios × 10 attempts in one request: the longest stretch and the memory it took. */
export async function evalLarge(): Promise<void> {
  await using endpoint = await startEndpoint();
  await using evaluator = await createEvaluator();
  const { evaluate } = evaluator;
  await evaluate(createBatch(50, 1), endpoint.url(0), 2); // warm
  const before = Deno.memoryUsage().rss;
  const watch = watchEventLoop();
  let bytes = 0;
  const ms = await elapsedMs(async () => {
    bytes = await evaluate(createBatch(1000, 1), endpoint.url(0), 10);
  });
  const longest = watch.stop();
  const grown = Deno.memoryUsage().rss - before;
  report("10,000 conversations", ms, { unit: "ms", digits: 0 });
  report("longest stretch without the event loop", longest, { unit: "ms", bound: 50, digits: 1 });
  report("answer", bytes / 2 ** 20, { unit: "MB", digits: 1 });
  report("memory grown by", grown / 2 ** 20, { unit: "MB", digits: 0 });
}

/** The whole service but its socket, storing into a file as it does in production. */
async function createEvaluator() {
  const config = parseConfig(EvalConfig, { EVAL_CONCURRENCY: String(CONCURRENCY) });
  const folder = await Deno.makeTempDir();
  const store = await openStore({ path: `${folder}/eval.db` });
  const service = createEvalHandler(createEvalDeps(config, { log: silentLogger, store }));
  return {
    async evaluate(test_batch: unknown, endpoint: string, attempts: number): Promise<number> {
      const response = await service(
        new Request("http://127.0.0.1/evaluate", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ test_batch, endpoint, attempts, model_id: "m" }),
        }),
      );
      if (!response.ok) throw new Error(await response.text());
      let bytes = 0;
      for await (const chunk of response.body!) bytes += chunk.byteLength;
      return bytes;
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

function createBatch(scenarios: number, turns: number) {
  return Array.from({ length: scenarios }, (_, scenario) => ({
    id: `scenario-${scenario}`,
    interactions: Array.from({ length: turns }, (_, turn) => ({
      id: `${scenario}.${turn}`,
      user_message: `Where is order ${scenario}, and when does it arrive?`,
      reference_reply: `Order ${scenario} was shipped on Monday; it should arrive by Thursday.`,
      reference_metadata: {
        intent: scenario % 2 ? "order_status" : "delivery_date",
        sentiment: "neutral",
      },
    })),
  }));
}

/** The same calls as the evaluation's: each conversation in order, its history growing. */
async function bareLoop(batch: ReturnType<typeof createBatch>, url: string): Promise<void> {
  const conversations = Array.from({ length: ATTEMPTS }, () => batch).flat();
  await sideBySide(conversations, CONCURRENCY, async ({ interactions }) => {
    const messages: { role: string; content: string }[] = [];
    for (const { user_message } of interactions) {
      messages.push({ role: "user", content: user_message });
      const response = await fetch(`${url}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "m", messages }),
      });
      const { choices } = await response.json();
      messages.push({ role: "assistant", content: choices[0].message.content });
    }
  });
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
