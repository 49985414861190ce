import { v8Flags } from "../../.ci/task_flags.ts";
import { openStore } from "../../eval/store/open_store.ts";
import { evaluateRequest, storedTurn } from "../fakes/stored_runs.ts";
import { report } from "./measure.ts";
import type { ReadMeasurement } from "./read_process.ts";

const ATTEMPTS = 1000;
const TURNS = 50;
const REPLY = "word ".repeat(800);
const SCORES = Array.from({ length: 15 }, (_, index) => index === 0 ? "overall" : `score_${index}`);

/** A run of one scenario and 200 MB, read in seven ways at once. */
export async function largeRead(): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/eval.db`;
    const id = await storeRun(path);
    const { live, readers } = await measure(path, id, "heap");
    const perReader = (live.peak - live.before) / 2 ** 20 / readers;
    report("live heap grown by, per reader", perReader, { unit: "MB", bound: 60, digits: 1 });
    const { longestStretch, cpuMs } = await measure(path, id, "stretch");
    report("longest stretch without the event loop", longestStretch, {
      unit: "ms",
      bound: 50,
      digits: 0,
    });
    report("CPU time", cpuMs / 1000, { unit: "s", digits: 1 });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function storeRun(path: string): Promise<string> {
  const store = await openStore({ path });
  const request = evaluateRequest({ turns: TURNS, attempts: ATTEMPTS });
  const { id } = await store.createRun({ request, testName: "large" });
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await Promise.all(
      Array.from({ length: TURNS }, (_, turn) => {
        const scores = SCORES.map((name, at) => [name, (attempt + turn + at) % 11 / 10.3]);
        const fields = { agent_reply: REPLY, scores: Object.fromEntries(scores) };
        return store.recordTurn(id, storedTurn([0, attempt, turn], fields));
      }),
    );
  }
  await store.setStatus(id, { status: "completed", tally: await store.tally(id) });
  await store.close();
  return id;
}

async function measure(
  path: string,
  runId: string,
  what: "heap" | "stretch",
): Promise<ReadMeasurement> {
  const script = new URL("read_process.ts", import.meta.url).pathname;
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", `${v8Flags("eval")[0]},--expose-gc`, script, path, runId, what],
    stderr: "inherit",
  }).output();
  if (!success) throw new Error("the reading failed");
  return JSON.parse(new TextDecoder().decode(stdout));
}
