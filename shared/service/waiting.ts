import { AsyncLocalStorage } from "node:async_hooks";

/** The error of work whose caller has left: always an `AbortError`, whatever the reason. */
export function abortError(caller?: AbortSignal): DOMException {
  const reason = caller?.reason;
  if (reason instanceof DOMException && reason.name === "AbortError") return reason;
  return new DOMException("the caller has left", "AbortError");
}

/**
 * Waits for `work`, but not for longer than the caller does: rejects with an `AbortError` at the
 * moment of the abort, even if `work` ignores the signal or others wait for it too.
 */
export async function untilAbort<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (!signal) return await work;
  const left = Promise.withResolvers<never>();
  const onAbort = () => left.reject(abortError(signal));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, left.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Waits for a promise, but at most `ms`, and no longer once the signal is aborted. */
export async function waitFor(
  awaited: Promise<unknown>,
  { ms, signal }: { ms: number; signal?: AbortSignal },
): Promise<"resolved" | "timed out" | "aborted"> {
  const { promise: end, resolve } = Promise.withResolvers<"timed out" | "aborted">();
  const leave = () => resolve("aborted");
  const timer = setTimeout(() => resolve("timed out"), ms);
  signal?.addEventListener("abort", leave, { once: true });
  if (signal?.aborted) leave();
  try {
    return await Promise.race([awaited.then(() => "resolved" as const), end]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", leave);
  }
}

/** How long work may block the event loop. */
const STRETCH_MS = 10;

/** To be awaited between pieces of work. */
export interface Yielder {
  (): Promise<void>;
  /**
   * True once the event loop should run. For pieces that start side by side: they write
   * `while (yielder.isDue()) await yielder();` right before each, so that no two share a stretch.
   */
  isDue(): boolean;
}

/** The event loop. All yielders share it: the work of several requests is one stretch. */
interface SharedLoop {
  now(): number;
  /** When a yielder last let it run. */
  ranAt: number;
}

const LOOP: SharedLoop = { now: () => performance.now(), ranAt: 0 };

/**
 * Lets the event loop run once 10 ms have passed, and costs nothing before. Work that never waits
 * for I/O (ten thousand refusals of a dead endpoint, a turn of calculator calls) would otherwise
 * block the process.
 */
export function createYielder(loop: SharedLoop = LOOP): Yielder {
  const createdAt = loop.now();
  const isDue = () => loop.now() - Math.max(createdAt, loop.ranAt) >= STRETCH_MS;
  const yieldIfDue = async () => {
    if (!isDue()) return;
    const before = loop.ranAt;
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (loop.ranAt === before) loop.ranAt = loop.now(); // else another yielder has set it
  };
  return Object.assign(yieldIfDue, { isDue });
}

/** Outside any request; see `loadApart`. */
const outside = AsyncLocalStorage.snapshot();

/**
 * Loads modules outside of the request that needs them. After the first load of a module Deno calls
 * back in the context in which it was asked for: later requests would become parts of that one's
 * trace.
 */
export function loadApart<T>(load: () => Promise<T>): Promise<T> {
  return outside(load);
}

/** Loads once, also for calls at the same time. If loading fails, the next call tries again. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () =>
    loading ??= loadApart(load).catch((error) => {
      loading = undefined;
      throw error;
    });
}

/**
 * A function whose code is loaded by its first call, for what most processes never need: every
 * module makes the start slower. If loading fails, the next call tries again.
 */
export function lazy<A extends unknown[], R>(
  load: () => Promise<(...args: A) => R | Promise<R>>,
): (...args: A) => Promise<R> {
  const loaded = loadOnce(load);
  return async (...args) => await (await loaded())(...args);
}
