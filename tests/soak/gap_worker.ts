/// <reference lib="deno.worker" />
/**
 * Asks a service for `/healthz` all the time, in a thread of its own, which no flood delays. It is
 * sent the service, and answers each further message with what it has seen.
 */
import { cpuSeconds, residentMb } from "./process_figures.ts";

const ASKING_MS = 10;

/** What was seen so far; see `Figures`. */
export interface Seen {
  gapMs: number;
  gapCpuMs: number;
  peak: number;
}

self.onmessage = async ({ data: { url, pid } }: MessageEvent<{ url: string; pid: number }>) => {
  const seen: Seen = { gapMs: 0, gapCpuMs: 0, peak: residentMb(pid) };
  self.onmessage = () => self.postMessage(seen);
  self.postMessage(seen);
  for (;;) {
    const [asked, cpu] = [performance.now(), cpuSeconds(pid)];
    await (await fetch(`${url}/healthz`)).text();
    seen.gapMs = Math.max(seen.gapMs, performance.now() - asked);
    const gapCpuMs = Math.min(performance.now() - asked, (cpuSeconds(pid) - cpu) * 1000);
    seen.gapCpuMs = Math.max(seen.gapCpuMs, gapCpuMs);
    seen.peak = Math.max(seen.peak, residentMb(pid));
    await new Promise((resolve) => setTimeout(resolve, ASKING_MS));
  }
};
