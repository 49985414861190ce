import { EXIT } from "./command.ts";
import type { Interrupts } from "./world.ts";

/** Ctrl-C, and how CI systems and service managers say the same. */
const SIGNALS: Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM"];

/** Listens for signals. Whoever insists a third time ends the process there and then. */
export function watchInterrupts(): Interrupts {
  const first = new AbortController();
  const second = new AbortController();
  const listen = () => {
    if (second.signal.aborted) Deno.exit(EXIT.interrupted);
    (first.signal.aborted ? second : first).abort();
  };
  for (const signal of SIGNALS) Deno.addSignalListener(signal, listen);
  return {
    first: first.signal,
    second: second.signal,
    [Symbol.dispose]() {
      for (const signal of SIGNALS) Deno.removeSignalListener(signal, listen);
    },
  };
}
