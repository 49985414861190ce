/** What a run ends with when its caller has left, whatever reason the signal was given. */
export function abortError(): DOMException {
  return new DOMException("the caller has left", "AbortError");
}

/**
 * Waits for `work`, but not for longer than the caller does: rejects with an `AbortError` at the
 * moment of the abort, also where `work` takes no notice of the signal.
 */
export async function untilAbort<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (!signal) return await work;
  const left = Promise.withResolvers<never>();
  const onAbort = () => left.reject(abortError());
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, left.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
