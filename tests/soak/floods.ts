// deno-lint-ignore-file no-console -- a script speaks to its terminal
/** `deno task soak:floods`: what one client may do to a service, and what that costs the others. */
import { startServiceProcess } from "../fakes/service_process.ts";
import { measure } from "./gaps.ts";

interface Flood {
  name: string;
  run: (url: string) => Promise<void>;
  gapMs: number;
  growthMb: number;
}

/** Sends `count` requests ahead on one connection, and reads all of their answers. */
async function pipeline(url: string, count: number): Promise<void> {
  const { hostname, port } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const request = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  const bytes = new TextEncoder().encode(request.repeat(count));
  const sending = (async () => {
    for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
  })();
  const buffer = new Uint8Array(65_536);
  const decoder = new TextDecoder();
  let [answers, rest] = [0, ""];
  while (answers < count) {
    const length = await connection.read(buffer);
    if (length === null) throw new Error(`closed after ${answers} answers`);
    const parts = (rest + decoder.decode(buffer.subarray(0, length))).split("HTTP/1.1 200");
    rest = parts.pop()!.slice(-11);
    answers += parts.length;
  }
  await sending;
}

const FLOODS: Flood[] = [
  {
    name: "20,000 requests ahead on one connection",
    run: (url) => pipeline(url, 20_000),
    gapMs: 300,
    growthMb: 20,
  },
  {
    name: "40 × 10,000 requests ahead",
    run: async (url) =>
      void await Promise.all(Array.from({ length: 40 }, () => pipeline(url, 10_000))),
    gapMs: 300,
    growthMb: 60,
  },
];

let isGood = true;
for (const name of ["agent", "eval"] as const) {
  for (const { name: what, run, gapMs, growthMb } of FLOODS) {
    await using service = await startServiceProcess(name);
    const figures = await measure(service, () => run(service.url));
    const { before, peak, after } = figures.memory;
    const isWithin = figures.gapMs <= gapMs && peak - before <= growthMb;
    isGood &&= isWithin;
    console.log(
      `${name}, ${what}: ${isWithin ? "ok" : "over its limit"}; ${figures.seconds.toFixed(1)} s ` +
        `(CPU ${figures.cpuSeconds.toFixed(1)} s), ` +
        `largest gap ${figures.gapMs.toFixed(0)} ms (${gapMs}), memory ` +
        `${before.toFixed(0)} → ${peak.toFixed(0)} → ${after.toFixed(0)} MB (+ ${growthMb})`,
    );
  }
}
Deno.exit(isGood ? 0 : 1);
