/**
 * Watches how long the event loop is blocked. `stop` gives the longest time between two turns,
 * less the timer's own millisecond; other processes of a busy machine are in it. `processorMs` gives
 * the most processor time of this thread between two turns, without them.
 */
export function watchEventLoop() {
  let longest = 0;
  let last = performance.now();
  let mostProcessor = 0;
  let lastProcessor = threadMs();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - 1);
    last = now;
    const processor = threadMs();
    mostProcessor = Math.max(mostProcessor, processor - lastProcessor);
    lastProcessor = processor;
  }, 1);
  return {
    stop() {
      clearInterval(timer);
      return longest;
    },
    processorMs: () => mostProcessor,
  };
}

/** Processor time of this thread so far; the clock if the system does not report it. */
function threadMs(): number {
  if (Deno.build.os !== "linux") return performance.now();
  const [nanoseconds] = Deno.readTextFileSync("/proc/thread-self/schedstat").split(" ");
  return Number(nanoseconds) / 1e6;
}
