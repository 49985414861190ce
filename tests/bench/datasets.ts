import type { DatasetMeasurement } from "./dataset_process.ts";
import { report } from "./measure.ts";

const SCENARIOS = 100_000;

/** The largest dataset there may be, in and out. */
export async function datasetStream(): Promise<void> {
  const { grown, bytes } = await measure("heap");
  report(`${SCENARIOS} scenarios`, bytes / 2 ** 20, { unit: "MB", digits: 0 });
  report("live heap grown by", grown / 2 ** 20, { unit: "MB", bound: 40, digits: 1 });
  const { longestStretch, mostProcessor, ms } = await measure("stretch");
  report("longest stretch without the event loop", longestStretch, { unit: "ms", digits: 0 });
  report("processor time in one stretch", mostProcessor, { unit: "ms", bound: 50, digits: 0 });
  report("writing", ms.write / 1000, { unit: "s", digits: 1 });
  report("reading", ms.read / 1000, { unit: "s", digits: 1 });
}

async function measure(what: "heap" | "stretch"): Promise<DatasetMeasurement> {
  const folder = await Deno.makeTempDir();
  try {
    const script = new URL("dataset_process.ts", import.meta.url).pathname;
    const flags = ["run", "-A", "--v8-flags=--expose-gc"];
    const { stdout, success } = await new Deno.Command(Deno.execPath(), {
      args: [...flags, script, `${folder}/eval.db`, String(SCENARIOS), what],
      stderr: "inherit",
    }).output();
    if (!success) throw new Error("writing or reading failed");
    return JSON.parse(new TextDecoder().decode(stdout));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
