import type { ServiceProcess } from "../fakes/service_process.ts";
import type { Seen } from "./gap_worker.ts";
import { cpuSeconds, residentMb } from "./process_figures.ts";

/** The effect of one step on a service. */
export interface Figures {
  /** The longest time between two answers of `/healthz` to a client that asks all the time. */
  gapMs: number;
  /** The longest processor time of the service in such a gap: on a busy machine it is less. */
  gapCpuMs: number;
  /** Resident memory before, at its highest and after, in megabytes. */
  memory: { before: number; peak: number; after: number };
  seconds: number;
  /** Of the service, user and system. */
  cpuSeconds: number;
}

/** A service that has just started takes memory for compiled code and its heap at any request. */
const WARM_UP_REQUESTS = 10_000;
const WARM_UP_CLIENTS = 8;

/** Measures `service` while `step` runs. */
export async function measure(
  { url, pid }: ServiceProcess,
  step: () => Promise<void>,
): Promise<Figures> {
  await Promise.all(Array.from({ length: WARM_UP_CLIENTS }, async () => {
    for (let at = 0; at < WARM_UP_REQUESTS / WARM_UP_CLIENTS; at++) {
      await (await fetch(`${url}/healthz`)).text();
    }
  }));
  const watcher = new Worker(new URL("gap_worker.ts", import.meta.url), { type: "module" });
  const look = (message: unknown) => {
    const { promise, resolve, reject } = Promise.withResolvers<Seen>();
    watcher.onmessage = ({ data }) => resolve(data);
    watcher.onerror = reject;
    watcher.postMessage(message);
    return promise;
  };
  try {
    const { peak: before } = await look({ url, pid });
    const [started, cpu] = [performance.now(), cpuSeconds(pid)];
    await step();
    const seconds = (performance.now() - started) / 1000;
    const { peak, ...gaps } = await look({});
    const memory = { before, peak, after: residentMb(pid) };
    return { ...gaps, memory, seconds, cpuSeconds: cpuSeconds(pid) - cpu };
  } finally {
    watcher.terminate();
  }
}
