// deno-lint-ignore-file no-console -- speaks to the process that started it
/**
 * `read_process.ts DATABASE RUN heap|stretch`: answers with a stored run and exports it in every
 * format, all at once, and prints as JSON what that took. Needs `--expose-gc`.
 */
import process from "node:process";
import { createStoredComparer } from "../../eval/figures/compare_stored.ts";
import { exportFormats } from "../../eval/report/export_formats.ts";
import { exportSource } from "../../eval/report/format.ts";
import { resultPieces } from "../../eval/figures/run_result.ts";
import { openStore } from "../../eval/store/open_store.ts";
import { gatherPieces } from "../../shared/http/json_response.ts";
import { watchEventLoop } from "./event_loop.ts";

/** Sizes in bytes, times in milliseconds. */
export interface ReadMeasurement {
  readers: number;
  /** What was reachable before and, at its most, during the reading. */
  live: { before: number; peak: number };
  characters: number;
  longestStretch: number;
  cpuMs: number;
}

const collectGarbage = (globalThis as unknown as { gc: () => void }).gc;

function liveHeap(): number {
  collectGarbage();
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

if (import.meta.main) {
  const [path = "", runId = "", watch = "stretch"] = Deno.args;
  const store = await openStore({ path });
  const run = (await store.getRun(runId))!;
  const source = exportSource(store, { run });
  const before = liveHeap();
  let peak = before;
  const look = () => peak = Math.max(peak, liveHeap());
  // Garbage collection blocks the loop, so memory and blocking are measured in two processes.
  const timer = watch === "heap" ? setInterval(look, 1000) : undefined;
  const loop = watchEventLoop();
  const started = process.cpuUsage();
  let characters = 0;
  const readers = [resultPieces(store, run), ...exportFormats.map((one) => one.write(source))];
  await Promise.all([
    createStoredComparer(store).compare({ runs: [runId, runId] }),
    ...readers.map(async (pieces) => {
      for await (const piece of gatherPieces(pieces)) characters += piece.length;
    }),
  ]);
  const { user, system } = process.cpuUsage(started);
  clearInterval(timer);
  const result: ReadMeasurement = {
    readers: readers.length + 1,
    live: { before, peak },
    characters,
    longestStretch: loop.stop(),
    cpuMs: (user + system) / 1000,
  };
  console.log(JSON.stringify(result));
  await store.close();
}
