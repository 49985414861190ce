/**
 * A function whose code is loaded by its first call, for what most processes never need: every
 * module takes some of the start. If loading fails, the next call tries again.
 */
export function lazy<A extends unknown[], R>(
  load: () => Promise<(...args: A) => R | Promise<R>>,
): (...args: A) => Promise<R> {
  let loading: ReturnType<typeof load> | undefined;
  return async (...args) => {
    const loaded = await (loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    }));
    return await loaded(...args);
  };
}
