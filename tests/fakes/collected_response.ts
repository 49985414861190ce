import { createOutgoingFetch } from "../../shared/http/outgoing_fetch.ts";

/**
 * Asks an address that never ends its answer, collects all garbage, and aborts; prints how reading
 * ended. Run as a process, with `--v8-flags=--expose-gc`.
 */
if (import.meta.main) {
  const { gc } = globalThis as unknown as { gc: () => void };
  const caller = new AbortController();
  const response = await createOutgoingFetch()(Deno.args[0]!, { signal: caller.signal });
  const reader = response.body!.getReader();
  await reader.read();
  const reading = reader.read().then(() => "it was read", (error: Error) => error.name);
  for (let round = 0; round < 10; round++) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  caller.abort();
  const silence = new Promise((resolve) => setTimeout(resolve, 2_000, "nobody heard of it"));
  // deno-lint-ignore no-console -- its only way to tell
  console.log(await Promise.race([reading, silence]));
  Deno.exit(0);
}
