import { AsyncLocalStorage } from "node:async_hooks";

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
