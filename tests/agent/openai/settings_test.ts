import { assertEquals } from "@std/assert";
import { toPlainFields, toSettings } from "../../../agent/openai/settings.ts";
import { CompletionRequest } from "../../../agent/schemas/chat_completion.ts";

/** Fields of OpenAI, of other providers, and of nobody yet. */
const FIELDS = {
  max_completion_tokens: 50,
  verbosity: "low",
  prediction: { type: "content", content: "x" },
  metadata: { team: "a" },
  store: true,
  prompt_cache_key: "k",
  top_k: 40,
  response_format: { type: "json_object" },
  logprobs: true,
  not_yet_known: [1],
};

function requestOf(fields: Record<string, unknown>): CompletionRequest {
  return CompletionRequest.parse({
    model: "a/b",
    messages: [{ role: "user", content: "Hi" }],
    stream: true,
    stream_options: { include_usage: true },
    ...fields,
  });
}

Deno.test("every field that the service does not use goes to the provider", () => {
  const body = requestOf({ ...FIELDS, user: null, n: 1, temperature: 0 });
  assertEquals(toSettings(body), { temperature: 0, maxTokens: undefined, extra: FIELDS });
  assertEquals(toPlainFields(body), { ...FIELDS, n: 1, temperature: 0 });
  assertEquals(toSettings(requestOf({})), {});
});

Deno.test("a limit of -1 tokens is no limit, also if one is configured", () => {
  for (const name of ["max_tokens", "max_completion_tokens"]) {
    const body = requestOf({ [name]: -1 });
    assertEquals(toSettings(body), { maxTokens: undefined });
    assertEquals(toPlainFields(body), {});
  }
  assertEquals(toSettings(requestOf({ max_tokens: 9 })), { maxTokens: 9 });
});
