/** Ctrl-C, a service manager or a CI system, and a terminal that is closed. */
const SIGNALS: Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];

/** Two signals within this time are one Ctrl-C. */
const ECHO_MS = 250;

/**
 * Calls back at each signal to stop, and returns the function that ends that. A terminal's Ctrl-C
 * reaches `deno task` and the program that it runs, to which the task then passes it on: the second
 * is an echo of the first, and must not count as a second request to stop.
 */
export function onStopSignal(callback: () => void): () => void {
  let heardAt = -Infinity;
  const hear = () => {
    const isEcho = performance.now() - heardAt < ECHO_MS;
    heardAt = performance.now();
    if (!isEcho) callback();
  };
  for (const signal of SIGNALS) Deno.addSignalListener(signal, hear);
  return () => {
    for (const signal of SIGNALS) Deno.removeSignalListener(signal, hear);
  };
}
