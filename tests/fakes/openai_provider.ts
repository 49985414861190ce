import { assert, assertRejects } from "@std/assert";
import { AgentConfig } from "../../agent/config.ts";
import { createModels } from "../../agent/core/models/models.ts";
import { createOpenAIProvider } from "../../shared/providers/openai_client.ts";
import { parseConfig } from "../../shared/service/config.ts";
import { silentLogger } from "../../shared/service/log.ts";
import {
  type CallOptions,
  type ChatProvider,
  type ChatRequest,
  ProviderError,
} from "../../shared/providers/provider.ts";
import { type Answer, type ProviderDouble, sse, startProviderDouble } from "./provider_double.ts";

/** A request for tests in which its content does not matter. */
export const REQUEST: ChatRequest = {
  model: "acme/model-1",
  messages: [{ role: "user", content: "Hi" }],
};

type Provider = ReturnType<typeof createOpenAIProvider>;
type Settings = Partial<Parameters<typeof createOpenAIProvider>[0]>;

/** The adapter with a double: long timeouts and no retries, unless `settings` say otherwise. */
export function providerOf(double: { baseUrl: string }, settings: Settings = {}): Provider {
  return createOpenAIProvider({
    name: "hub",
    baseUrl: double.baseUrl,
    apiKey: "secret-key",
    timeoutMs: 30_000,
    retries: 0,
    ...settings,
  });
}

/** A double as the hub of the service, which is asked again in other ways if it refuses a request. */
export function hubOf({ baseUrl }: { baseUrl: string }): ChatProvider {
  const config = parseConfig(AgentConfig, { HUB_BASE_URL: baseUrl });
  return createModels(config, silentLogger).providerFor("hub");
}

/** The three ways to ask a provider something, for what must hold for each. */
export const WAYS = {
  complete: (provider: ChatProvider, options?: CallOptions): Promise<unknown> =>
    provider.complete(REQUEST, options),
  stream: (provider: ChatProvider, options?: CallOptions): Promise<unknown> =>
    Array.fromAsync(provider.stream(REQUEST, options)),
  listModels: (provider: Provider, options?: CallOptions): Promise<unknown> =>
    provider.listModels(options),
};

/** The error that asking a double ends in. */
export async function failure(
  answers: Answer | Answer[],
  ask: (double: ProviderDouble) => Promise<unknown>,
): Promise<ProviderError> {
  await using double = await startProviderDouble(answers);
  return await assertRejects(() => ask(double), ProviderError);
}

/** The deltas of a stream of these chunks, and the reply at its end. */
export async function streamed(chunks: unknown[], end: "done" | "close" = "done") {
  await using double = await startProviderDouble(sse(chunks, { end }));
  const deltas = await Array.fromAsync(providerOf(double).stream(REQUEST));
  const last = deltas.pop();
  assert(last?.type === "reply");
  return { deltas, reply: last.reply };
}
