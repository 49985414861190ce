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
