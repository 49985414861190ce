import { exportFormats } from "../../eval/report/export_formats.ts";
import { openStore } from "../../eval/store/open_store.ts";
import type { RunStore } from "../../eval/store/store.ts";
import type { Scenario } from "../../eval/test/scenario.ts";
import { interaction, scenario } from "../fakes/eval_ports.ts";
import { turnResult } from "../fakes/stored_run.ts";
import type { ExportMeasurement } from "./export_process.ts";
import { report } from "./measure.ts";

const SCENARIOS = 1000;
const ATTEMPTS = 100;
const TURNS = 2;
const SCORES = ["exact_match", "token_f1", "rouge_l", "intent_match", "overall"];
const REPLY = "The parcel left our warehouse yesterday and should be with you on Friday. ".repeat(
  6,
);

/** 1,000 scenarios × 100 attempts exported in every format, each in a process of its own. */
export async function largeExport(): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/eval.db`;
    const store = await openStore({ path });
    const runId = await storeLargeRun(store);
    await store.close();
    for (const { name } of exportFormats) {
      const { peakRss, characters, ms, longestStretch } = await measure(path, runId, name);
      report(`${name}: peak RSS`, peakRss / 2 ** 20, { unit: "MB", bound: 400, digits: 0 });
      report(`${name}: size`, characters / 2 ** 20, { unit: "MB", digits: 1 });
      report(`${name}: time`, ms / 1000, { unit: "s", digits: 1 });
      report(`${name}: longest stretch`, longestStretch, { unit: "ms", digits: 0 });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function measure(path: string, runId: string, format: string): Promise<ExportMeasurement> {
  const script = new URL("export_process.ts", import.meta.url).pathname;
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", script, path, runId, format],
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`the export as ${format} failed`);
  return JSON.parse(new TextDecoder().decode(stdout));
}

async function storeLargeRun(store: RunStore): Promise<string> {
  const request = {
    test_batch: createBatch(),
    endpoint: "http://model.example/v1",
    model_id: "m",
    attempts: ATTEMPTS,
    parameters: {},
  };
  const { id } = await store.createRun({ request, testName: "large" });
  for (let index = 0; index < SCENARIOS; index++) {
    const writes: Promise<unknown>[] = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      for (let turn = 0; turn < TURNS; turn++) {
        const value = (index * 7 + attempt * 3 + turn) % 11 / 10;
        const result = turnResult(`t${turn}`, {
          reference_reply: REPLY,
          agent_reply: REPLY,
          scores: Object.fromEntries(SCORES.map((name) => [name, value])),
        });
        writes.push(store.recordTurn(id, { scenario: index, attempt, turn, result, tookMs: 1 }));
      }
    }
    await Promise.all(writes);
  }
  await store.setStatus(id, { status: "completed" });
  return id;
}

function createBatch(): Scenario[] {
  const turns = Array.from({ length: TURNS }, (_, turn) => interaction(`t${turn}`));
  return Array.from({ length: SCENARIOS }, (_, index) => scenario(`scenario ${index}`, turns));
}
