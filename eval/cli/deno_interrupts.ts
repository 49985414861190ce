import { onStopSignal } from "../../shared/stop_signals.ts";
import { EXIT } from "./command.ts";
import type { Interrupts } from "./world.ts";

/** Listens for signals. Whoever insists a third time ends the process there and then. */
export function watchInterrupts(): Interrupts {
  const first = new AbortController();
  const second = new AbortController();
  const stopListening = onStopSignal(() => {
    if (second.signal.aborted) Deno.exit(EXIT.interrupted);
    (first.signal.aborted ? second : first).abort();
  });
  return {
    first: first.signal,
    second: second.signal,
    [Symbol.dispose]: stopListening,
  };
}
