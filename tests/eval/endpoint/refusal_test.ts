import { assertEquals, assertStringIncludes } from "@std/assert";
import { EvalConfig } from "../../../eval/config.ts";
import { createEvalHandler } from "../../../eval/handler.ts";
import { createEvalDeps } from "../../../eval/wiring.ts";
import { parseConfig } from "../../../shared/config/config.ts";
import { silentLogger } from "../../../shared/log.ts";
import { evaluateRequestOf } from "../../fakes/eval_service.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { type Answer, json, raw, startProviderDouble } from "../../fakes/provider_double.ts";

/** The error of an evaluation's only turn at an endpoint that always answers this. */
async function errorOf(answer: Answer, environment: Record<string, string> = {}) {
  await using double = await startProviderDouble(answer);
  const config = parseConfig(EvalConfig, { MODEL_RETRIES: "0", ...environment });
  const service = createEvalHandler(
    createEvalDeps(config, { log: silentLogger, store: memoryStore() }),
  );
  const test_batch = { id: "s", interactions: [{ id: "i", user_message: "Hi" }] };
  const response = await service(
    evaluateRequestOf({ test_batch, endpoint: double.baseUrl, model_id: "m" }),
  );
  const { results } = await response.json();
  const [turn] = results.scenarios[0].attempts[0].interactions;
  assertStringIncludes(turn.agent_reply, "Request failed");
  return turn.error;
}

Deno.test("a failed turn has the endpoint's own words, without the configured secrets", async () => {
  const secret = "eval-secret-key";
  const message = `maximum context length is 8192 tokens ${secret} ${"x".repeat(3000)}`;
  const error = await errorOf(json({ error: { message } }, { status: 400 }), {
    EVAL_API_KEY: secret,
  });
  assertEquals([error.code, error.status], ["provider_refused", 400]);
  assertStringIncludes(
    error.detail,
    "refused by the provider (400): maximum context length is 8192",
  );
  assertEquals(error.detail.includes(secret), false);
  assertEquals(error.detail.length < 2200, true);
});

Deno.test("a 401 without a credential names the variables to set", async () => {
  const error = await errorOf(raw("", { status: 401 }));
  assertEquals(error.code, "provider_auth");
  assertStringIncludes(error.detail, "none is configured; set EVAL_CREDENTIALS");
});

Deno.test("an unreadable answer is shown by its status, content type and first characters", async () => {
  const page = raw("<h1>Sign in</h1>", { headers: { "content-type": "text/html" } });
  const error = await errorOf(page);
  assertStringIncludes(error.detail, '(status 200, text/html, begins with "<h1>Sign in</h1>")');
});

Deno.test("the text of an unreadable answer of a model is not quoted", async () => {
  const half = 'data: {"choices":[{"delta":{"content":"a private matter"}}]}\n\ndata: oops\n\n';
  const error = await errorOf(raw(half, { headers: { "content-type": "text/event-stream" } }));
  assertEquals(error.code, "provider_error");
  assertStringIncludes(error.detail, "(status 200, text/event-stream, not shown: ");
  assertEquals(error.detail.includes("private"), false);
});

for (const [where, rest] of [["after an event", "\n\n"], ["within an event", '\n\ndata: {"cho']]) {
  Deno.test(`events that end too early, ${where}, are a closed connection, not an unreadable answer`, async () => {
    const half = `data: {"choices":[{"delta":{"content":"a private matter"}}]}${rest}`;
    const error = await errorOf(raw(half, { headers: { "content-type": "text/event-stream" } }));
    assertEquals(error.code, "provider_error");
    const reason = "the connection was closed before the answer was complete";
    assertStringIncludes(error.detail, reason);
  });
}
