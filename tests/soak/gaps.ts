import type { ServiceProcess } from "../fakes/service_process.ts";

/** The effect of one step on a service. */
export interface Figures {
  /** The longest time between two answers of `/healthz` to a client that asks all the time. */
  gapMs: number;
  /** Resident memory before, at its highest and after, in megabytes. */
  memory: { before: number; peak: number; after: number };
  seconds: number;
  /** Of the service, user and system. */
  cpuSeconds: number;
}

const ASKING_MS = 10;
/** A service that has just started takes memory for compiled code and its heap at any request. */
const WARM_UP_REQUESTS = 10_000;
const WARM_UP_CLIENTS = 8;

/** Measures `service` while `step` runs. */
export async function measure(
  service: ServiceProcess,
  step: () => Promise<void>,
): Promise<Figures> {
  const client = Deno.createHttpClient({ poolMaxIdlePerHost: WARM_UP_CLIENTS });
  const ask = async () => {
    const response = await fetch(`${service.url}/healthz`, { client });
    await response.text();
  };
  await Promise.all(Array.from({ length: WARM_UP_CLIENTS }, async () => {
    for (let at = 0; at < WARM_UP_REQUESTS / WARM_UP_CLIENTS; at++) await ask();
  }));
  const before = residentMb(service);
  let [gapMs, peak] = [0, before];
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const asked = performance.now();
      await ask();
      gapMs = Math.max(gapMs, performance.now() - asked);
      peak = Math.max(peak, residentMb(service));
      await new Promise((resolve) => setTimeout(resolve, ASKING_MS));
    }
  })();
  const started = performance.now();
  const cpuBefore = cpuSeconds(service);
  await step();
  const seconds = (performance.now() - started) / 1000;
  isOver = true;
  await asking;
  client.close();
  const memory = { before, peak, after: residentMb(service) };
  return { gapMs, memory, seconds, cpuSeconds: cpuSeconds(service) - cpuBefore };
}

function residentMb({ pid }: ServiceProcess): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1];
  return Number(kilobytes) / 1024;
}

function cpuSeconds({ pid }: ServiceProcess): number {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).replace(/^.*\) /, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100; // ticks of 10 ms
}
