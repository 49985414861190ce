import { providerOf, WAYS } from "./openai_provider.ts";

/** Asks the provider at an address in every way, and is silent about it. Run as a process. */
if (import.meta.main) {
  const provider = providerOf({ baseUrl: Deno.args[0]! });
  for (const ask of Object.values(WAYS)) await ask(provider).catch(() => {});
}
