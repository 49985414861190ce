import type { ChatProvider } from "../../shared/providers/provider.ts";
import { agentService } from "./agent_service.ts";
import type { Step } from "./scripted_provider.ts";

export const USAGE = {
  promptTokens: 10,
  completionTokens: 2,
  totalTokens: 12,
  promptDetails: null,
  completionDetails: null,
};

/** A turn with a text and a call of the agent's calculator. */
export const SUM: Step = {
  content: "Let me see.",
  toolCalls: [{ id: "c1", name: "calculator", arguments: '{"expression":"2+2"}' }],
  usage: USAGE,
};

/** Two callers with a key each, for `API_KEYS`. */
export const KEYS = { API_KEYS: "ada:ada-key-0123456789,bob:bob-key-0123456789" };

/** The header with the key of a caller. */
export function keyOf(caller: string): Record<string, string> {
  return { "x-api-key": `${caller}-key-0123456789` };
}

/** The OpenAI routes of the agent without a socket. `post` sends a JSON body below `/v1/`. */
export function openAIRoutes(
  provider: ChatProvider,
  { environment = {} }: { environment?: Record<string, string> } = {},
) {
  const { service } = agentService(provider, { environment });
  async function post(
    path: "chat/completions" | "responses",
    body: Record<string, unknown>,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return await service(
      new Request(`http://127.0.0.1:8000/v1/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ model: "a/b", ...body }),
      }),
    );
  }
  return { service, post };
}
