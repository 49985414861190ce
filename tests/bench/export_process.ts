// deno-lint-ignore-file no-console -- speaks to the process that started it
/**
 * `export_process.ts DATABASE RUN FORMAT`: exports a stored run into the void, as a process of its
 * own, and prints what that took as JSON.
 */
import { exportFormats } from "../../eval/report/export_formats.ts";
import { exportSource } from "../../eval/report/format.ts";
import { openReader } from "../../eval/store/open_store.ts";
import { gatherPieces } from "../../shared/http/json_response.ts";
import { watchEventLoop } from "./event_loop.ts";

export interface ExportMeasurement {
  /** The most memory that the process held at any time, in bytes. */
  peakRss: number;
  characters: number;
  ms: number;
  /** The longest time that the event loop was blocked, in milliseconds. */
  longestStretch: number;
}

if (import.meta.main) {
  const [path = "", runId = "", formatName = ""] = Deno.args;
  const format = exportFormats.find(({ name }) => name === formatName)!;
  const reader = await openReader({ path });
  const source = exportSource(reader, { run: (await reader.getRun(runId))! });

  let peakRss = 0;
  const timer = setInterval(() => {
    peakRss = Math.max(peakRss, Deno.memoryUsage().rss);
  }, 5);
  const watch = watchEventLoop();
  const started = performance.now();
  let characters = 0;
  for await (const piece of gatherPieces(format.write(source))) characters += piece.length;
  const ms = performance.now() - started;
  const longestStretch = watch.stop();
  clearInterval(timer);
  await reader.close();
  const result: ExportMeasurement = { peakRss, characters, ms, longestStretch };
  console.log(JSON.stringify(result));
}
