// deno-lint-ignore-file no-console -- a bench speaks to its terminal

/** A part of the bench: it measures, prints its figures, and cleans up after itself. */
export type BenchPart = () => Promise<void>;

/**
 * Prints one figure and its bound, if it has one: at most, or at least. Of
 * several rounds it is the median, with the smallest and the largest beside it.
 */
export function report(
  what: string,
  rounds: number | number[],
  { unit = "", bound = Infinity, atLeast = -Infinity, digits = 2 } = {},
) {
  const values = [rounds].flat();
  const value = median(values);
  const isKept = value <= bound && value >= atLeast;
  const named = bound !== Infinity ? `bound ${bound}` : `at least ${atLeast}`;
  const hasBound = bound !== Infinity || atLeast !== -Infinity;
  const verdict = hasBound ? `(${named}: ${isKept ? "kept" : "MISSED"})` : "";
  const ends = [Math.min(...values), Math.max(...values)].map((end) => end.toFixed(digits));
  const spread = values.length > 1 ? `(${ends.join("–")})` : "";
  const figure = [value.toFixed(digits).padStart(9), unit, spread, verdict];
  console.log(`  ${what.padEnd(64)} ${figure.filter(Boolean).join(" ")}`);
}

/**
 * How many times as much as the other, round by round. The median of these is reported, not the
 * ratio of the medians: both were measured one after the other in each round, so what else the
 * machine did meanwhile is in both.
 */
export function ratios(rounds: number[], others: number[]): number[] {
  return rounds.map((value, round) => value / others[round]!);
}

export async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

export function median(values: number[]): number {
  return quantile(values, 0.5);
}

/** The quantile of a share from 0 to below 1. */
export function quantile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!;
}

/** Runs `work` for every item, `width` at a time. */
export async function sideBySide<T>(
  items: Iterable<T>,
  width: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  async function workOn() {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await work(next.value);
  }
  await Promise.all(Array.from({ length: width }, workOn));
}

/** The endpoint of `endpoint.ts` in its own process; ends when disposed of. */
export async function startEndpoint(): Promise<
  { url: (delayMs: number, kind?: string) => string } & AsyncDisposable
> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL("endpoint.ts", import.meta.url).pathname],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const port = Number((await reader.read()).value);
  return {
    url: (delayMs, kind = "") => `http://127.0.0.1:${port}/delay/${delayMs}${kind}/v1`,
    async [Symbol.asyncDispose]() {
      await child.stdin.close();
      await reader.cancel();
      await child.status;
    },
  };
}
