import { createAgentDialect } from "../../eval/ask/agent_dialect.ts";
import { createEndpointClient } from "../../eval/ask/client.ts";
import { createOpenAIDialect } from "../../eval/ask/openai_dialect.ts";
import { createEndpointPace } from "../../eval/ask/pace.ts";
import { createOutgoingFetch } from "../../shared/http/outgoing_fetch.ts";
import type { ProviderDouble } from "./provider_double.ts";

/** A double as the endpoint of a run, asked in one of the two protocols over real HTTP. */
export function endpointTarget(
  protocol: "openai" | "agent",
  { baseUrl, origin }: Pick<ProviderDouble, "baseUrl" | "origin">,
) {
  const client = createEndpointClient({
    modelId: "m",
    credential: undefined,
    timeoutMs: 10_000,
    retries: 0,
    fetch: createOutgoingFetch(),
    pace: createEndpointPace(1),
  });
  return protocol === "openai"
    ? createOpenAIDialect({ baseUrl, modelId: "m", parameters: {} }, client)
    : createAgentDialect({ url: origin, modelId: "m" }, client);
}
