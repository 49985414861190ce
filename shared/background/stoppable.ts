import { Script } from "node:vm";

/** A script finds what it runs through the global object only. */
const WORK = "assay.work";
const scope = globalThis as unknown as Record<symbol, unknown>;
const script = new Script(`globalThis[Symbol.for("${WORK}")]()`);

/**
 * For `serveCalls`: `handle`, stopped wherever it is when its caller no longer waits, also in a loop
 * without end. Then there is no answer: the caller has ended the worker. It cannot end the thread,
 * because Deno (2.9.5) lets the thread of an ended worker run for as long as it computes.
 */
export function stoppable<Input, Output>(
  handle: (input: Input) => Output,
): (input: Input, limitMs: number) => Output | Promise<never> {
  return (input, limitMs) => {
    scope[Symbol.for(WORK)] = () => handle(input);
    try {
      return script.runInThisContext({ timeout: limitMs }) as Output;
    } catch (error) {
      if (isTimeout(error)) return new Promise<never>(() => {});
      throw error;
    }
  };
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error &&
    error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
