import { EvalConfig } from "../../eval/config.ts";
import { openStore } from "../../eval/store/open_store.ts";
import type { RunStore } from "../../eval/store/store.ts";
import { createEvalDeps } from "../../eval/wiring.ts";
import { parseConfig } from "../../shared/service/config.ts";
import { silentLogger } from "../../shared/service/log.ts";
import { evaluateRequest, storedTurn } from "../fakes/stored_runs.ts";
import { watchEventLoop } from "./event_loop.ts";
import { elapsedMs, report, sideBySide, startEndpoint } from "./measure.ts";

const TURNS = 10_000;
const CONCURRENCY = 64;

/** Turns stored and acknowledged per second, one after another and in 64 conversations. */
export async function storeSpeed(): Promise<void> {
  await withStore(async (store) => {
    const alone = await elapsedMs(() => recordAll(store, { turns: 500, width: 1 }));
    const watch = watchEventLoop();
    const together = await elapsedMs(() => recordAll(store, { turns: TURNS, width: CONCURRENCY }));
    const longest = watch.stop();
    const perSecond = (turns: number, ms: number) => turns / ms * 1000;
    report("turns/s, one after another", perSecond(500, alone), { digits: 0 });
    report("turns/s, 64 conversations", perSecond(TURNS, together), { digits: 0 });
    report("longest stretch without the event loop", longest, { unit: "ms", bound: 20, digits: 1 });
    await storeLargeRun(store);
  });
}

/** A request of about the largest size that the service takes. */
async function storeLargeRun(store: RunStore): Promise<void> {
  const request = evaluateRequest({ scenarios: 1000, turns: 10 });
  for (const { interactions } of request.test_batch) {
    for (const turn of interactions) turn.reference_reply = "a reference ".repeat(50);
  }
  const megabytes = JSON.stringify(request).length / 2 ** 20;
  await new Promise((resolve) => setTimeout(resolve, 0));
  const watch = watchEventLoop();
  const ms = await elapsedMs(() => store.createRun({ request, testName: "large" }));
  const longest = watch.stop();
  report(`a request of ${megabytes.toFixed(1)} MB is stored in`, ms, { unit: "ms", digits: 0 });
  report("longest stretch without the event loop", longest, { unit: "ms", bound: 20, digits: 1 });
}

/** A run of 10,000 turns with 64 of them missing: from the open file to the first and last call. */
export async function resumeSpeed(): Promise<void> {
  await using endpoint = await startEndpoint();
  const folder = await Deno.makeTempDir();
  const path = `${folder}/eval.db`;
  try {
    const before = await openStore({ path });
    const request = evaluateRequest({
      scenarios: TURNS / 10,
      turns: 2,
      attempts: 5,
      endpoint: endpoint.url(0),
    });
    const { id } = await before.createRun({ request, testName: "bench" });
    const missing = new Set(Array.from({ length: CONCURRENCY }, (_, n) => n * 10));
    await sideBySide(positions(), CONCURRENCY, async ([scenario, attempt, turn]) => {
      if (attempt === 4 && turn === 1 && missing.has(scenario)) return;
      await before.recordTurn(id, storedTurn([scenario, attempt, turn]));
    });
    await before.close();

    const config = parseConfig(EvalConfig, {});
    let store: RunStore | undefined;
    const watch = watchEventLoop();
    const opened = await elapsedMs(async () => {
      store = await openStore({ path });
    });
    const { runs } = createEvalDeps(config, { log: silentLogger, store: store! });
    const resumed = await elapsedMs(() => runs.resumeUnfinished());
    const active = runs.active(id)!;
    const finished = await elapsedMs(() => active.ended);
    report("open the database", opened, { unit: "ms", digits: 0 });
    report(`go on with ${TURNS - CONCURRENCY} turns stored`, resumed, { unit: "ms", digits: 0 });
    report(`ask and store the ${CONCURRENCY} missing ones`, finished, { unit: "ms", digits: 0 });
    report("longest stretch without the event loop", watch.stop(), { unit: "ms", digits: 1 });
    await store!.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function* positions(): Generator<[number, number, number]> {
  for (let scenario = 0; scenario < TURNS / 10; scenario++) {
    for (let attempt = 0; attempt < 5; attempt++) {
      for (let turn = 0; turn < 2; turn++) yield [scenario, attempt, turn];
    }
  }
}

async function recordAll(store: RunStore, { turns, width }: { turns: number; width: number }) {
  const { id } = await store.createRun({ request: evaluateRequest(), testName: "bench" });
  await sideBySide(
    Array.from({ length: turns }, (_, turn) => turn),
    width,
    (turn) => store.recordTurn(id, storedTurn([turn, 0, 0], { agent_reply: "word ".repeat(100) })),
  );
}

async function withStore(work: (store: RunStore) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const store = await openStore({ path: `${folder}/eval.db` });
  try {
    await work(store);
  } finally {
    await store.close();
    await Deno.remove(folder, { recursive: true });
  }
}
