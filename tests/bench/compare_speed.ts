import { cpuUsage } from "node:process";
import { createComparer } from "../../eval/figures/compare_stored.ts";
import { createSummaries } from "../../eval/figures/summaries.ts";
import { restingProgress, viewRun } from "../../eval/run/view.ts";
import { openStore } from "../../eval/store/open_store.ts";
import type { RunStore } from "../../eval/store/store.ts";
import { evaluateRequest, storedTurn } from "../fakes/stored_runs.ts";
import { report } from "./measure.ts";

const REPLY = "word ".repeat(60);
const SCORES = Array.from({ length: 12 }, (_, index) => index === 0 ? "overall" : `score_${index}`);
const SHAPES = [{ scenarios: 50_000, turns: 1 }, { scenarios: 10_000, turns: 5 }];
/** Scenarios that are stored at a time. */
const AT_ONCE = 100;

/** `GET /compare` of two runs of 50,000 turns that have ended. */
export async function compareSpeed(): Promise<void> {
  for (const shape of SHAPES) {
    const folder = await Deno.makeTempDir();
    const store = await openStore({ path: `${folder}/eval.db` });
    const summaries = createSummaries(store);
    const runs = [await storeRun(store, shape, 0), await storeRun(store, shape, 1)];
    for (const id of runs) await summaries.summary((await store.getRecord(id))!);
    const comparer = createComparer({
      store,
      view: async (run) => viewRun(run, restingProgress(run, await store.tally(run.id))),
      summarise: summaries.summary,
    });
    const before = cpuUsage();
    await comparer.compare({ runs });
    const { user, system } = cpuUsage(before);
    report(
      `processor time: ${shape.scenarios} scenarios of ${shape.turns} turns, ${SCORES.length} scores`,
      (user + system) / 1e6,
      { unit: "s", bound: 4, digits: 1 },
    );
    await store.close();
    await Deno.remove(folder, { recursive: true });
  }
}

async function storeRun(
  store: RunStore,
  { scenarios, turns }: (typeof SHAPES)[number],
  model: number,
): Promise<string> {
  const request = evaluateRequest({ scenarios, turns });
  const { id } = await store.createRun({ request, testName: "large" });
  for (let start = 0; start < scenarios; start += AT_ONCE) {
    const places = Array.from({ length: AT_ONCE * turns }, (_, place) => place);
    await Promise.all(places.map((place) => {
      const [scenario, turn] = [start + Math.floor(place / turns), place % turns];
      const scores = SCORES.map((name, at) => [
        name,
        ((scenario * 7 + turn * 3 + at + model * 11) % 97) / 96,
      ]);
      const fields = { agent_reply: REPLY, scores: Object.fromEntries(scores) };
      return store.recordTurn(id, storedTurn([scenario, 0, turn], fields));
    }));
  }
  await store.setStatus(id, { status: "completed", tally: "count" });
  return id;
}
