import { createStoredComparer } from "../../eval/figures/compare_stored.ts";
import { openStore } from "../../eval/store/open_store.ts";
import type { RunStore } from "../../eval/store/store.ts";
import { evaluateRequest, storedTurn } from "../fakes/stored_runs.ts";
import { watchEventLoop } from "./event_loop.ts";
import { report } from "./measure.ts";

const MODELS = 5;
const SCENARIOS = 1_000;
const ATTEMPTS = 2;
const TURNS = 5;
const REPLY = "word ".repeat(60);
const SCORES = Array.from({ length: 12 }, (_, index) => index === 0 ? "overall" : `score_${index}`);

/** Five models of 10,000 turns each: the table of `GET /compare?group={id}` with all verdicts. */
export async function groupCompare(): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const store = await openStore({ path: `${folder}/eval.db` });
    const id = await storeGroup(store);
    for (const decideBy of SCORES.slice(0, 2)) {
      const loop = watchEventLoop();
      const started = performance.now();
      const { pairs } = await createStoredComparer(store).compare({ group: id }, { decideBy });
      const seconds = (performance.now() - started) / 1000;
      const longest = loop.stop();
      report(`pairs by ${decideBy}`, pairs!.length, { digits: 0 });
      report("longest stretch without the event loop", longest, { unit: "ms", digits: 0 });
      report("processor time in one stretch", loop.processorMs(), {
        unit: "ms",
        bound: 50,
        digits: 0,
      });
      report("time", seconds, { unit: "s", digits: 1 });
    }
    await store.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function storeGroup(store: RunStore): Promise<string> {
  const request = evaluateRequest({ scenarios: SCENARIOS, turns: TURNS, attempts: ATTEMPTS });
  const runs = Array.from({ length: MODELS }, (_, model) => ({
    request,
    testName: "large",
    name: `model ${model}`,
  }));
  const created = await store.createGroup({ runs });
  for (const [model, { id }] of (await store.groupRuns(created.id)).entries()) {
    for (let scenario = 0; scenario < SCENARIOS; scenario++) {
      const places = Array.from({ length: ATTEMPTS * TURNS }, (_, place) => place);
      await Promise.all(places.map((place) => {
        const attempt = Math.floor(place / TURNS);
        const turn = place % TURNS;
        const scores = SCORES.map((name, at) => [
          name,
          ((scenario * 7 + attempt * 5 + turn * 3 + at + model * 11) % 97) / 96,
        ]);
        const fields = { agent_reply: REPLY, scores: Object.fromEntries(scores) };
        return store.recordTurn(id, storedTurn([scenario, attempt, turn], fields));
      }));
    }
    await store.setStatus(id, { status: "completed", tally: await store.tally(id) });
  }
  return created.id;
}
