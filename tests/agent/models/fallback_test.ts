import { assert, assertEquals, assertRejects } from "@std/assert";
import { createFallback } from "../../../agent/models/fallback.ts";
import {
  type ChatRequest,
  ProviderError,
  type ProviderFailure,
} from "../../../shared/providers/provider.ts";
import { agentRequestOf, agentService } from "../../fakes/agent_service.ts";
import { readEvents } from "../../fakes/events.ts";
import { providerOf } from "../../fakes/openai_provider.ts";
import {
  type Answer,
  completion,
  completionChunks,
  errorStatus,
  sse,
  startProviderDouble,
} from "../../fakes/provider_double.ts";
import { createScriptedProvider } from "../../fakes/scripted_provider.ts";

const BODY = { messages: [{ type: "human", content: "Hi" }] };
const REQUEST = { model: "a/first", messages: [{ role: "user" as const, content: "Hi" }] };

function failing(failure: ProviderFailure): ProviderError {
  return new ProviderError(502, "provider_error", "no", failure);
}

const BUSY = failing({ kind: "status", status: 429 });

Deno.test("the next model is asked after 429, 5xx and a failed connection only", async () => {
  const cases: [ProviderFailure, number][] = [
    [{ kind: "status", status: 429 }, 2],
    [{ kind: "status", status: 500 }, 2],
    [{ kind: "status", status: 503 }, 2],
    [{ kind: "unreachable" }, 2],
    [{ kind: "interrupted" }, 2],
    [{ kind: "interrupted", why: "reset" }, 2],
    [{ kind: "status", status: 400 }, 1],
    [{ kind: "status", status: 401 }, 1],
    [{ kind: "status", status: 404 }, 1],
    [{ kind: "timeout" }, 1],
    [{ kind: "unreadable" }, 1],
  ];
  for (const [failure, calls] of cases) {
    const provider = createScriptedProvider(failing(failure), { content: "second" });
    const fallback = createFallback(provider, ["a/first", "a/second"]);
    await fallback.complete(REQUEST).catch(() => {});
    assertEquals(provider.requests.length, calls, JSON.stringify(failure));
  }
});

Deno.test("models are tried in their order, and the error of the last one is thrown", async () => {
  const provider = createScriptedProvider(BUSY);
  const fallback = createFallback(provider, ["a/1", "a/2", "a/3"]);
  assert(await assertRejects(() => fallback.complete(REQUEST)) === BUSY);
  assertEquals(provider.requests.map(({ model }) => model), ["a/1", "a/2", "a/3"]);
});

Deno.test("the model that answered is asked first from then on", async () => {
  const provider = createScriptedProvider(BUSY, {}, {});
  const fallback = createFallback(provider, ["a/1", "a/2"]);
  await fallback.complete(REQUEST);
  await fallback.complete(REQUEST);
  assertEquals(provider.requests.map(({ model }) => model), ["a/1", "a/2", "a/2"]);
  assertEquals(fallback.answeredBy(), "a/2");
});

Deno.test("a stream falls back before its first delta, never after it", async () => {
  const provider = createScriptedProvider(BUSY, { content: "Hi." });
  const early = await Array.fromAsync(createFallback(provider, ["a/1", "a/2"]).stream(REQUEST));
  assertEquals(early.map(({ type }) => type), ["text", "reply"]);

  const cut = createScriptedProvider({});
  cut.stream = async function* ({ model }) {
    yield { type: "text", text: model };
    throw BUSY;
  };
  const late = createFallback(cut, ["a/1", "a/2"]);
  assert(await assertRejects(() => Array.fromAsync(late.stream(REQUEST))) === BUSY);
  assertEquals(late.answeredBy(), "a/1");
});

Deno.test("HUB_FALLBACK answers for a hub model, and x-agent-model names the model that answered", async () => {
  const environment = { HUB_FALLBACK: "b/second, b/third" };
  for (const accept of ["application/json", "text/event-stream"]) {
    const provider = createScriptedProvider(BUSY, { content: "from the second" });
    const { service } = agentService(provider, { environment });
    const response = await service(agentRequestOf(BODY, { headers: { accept } }));
    assertEquals([response.status, response.headers.get("x-agent-model")], [200, "b/second"]);
    if (accept === "text/event-stream") {
      const events = await Array.fromAsync(readEvents(response));
      assertEquals(events.at(-1)?.data.model, "b/second");
    } else assertEquals((await response.json()).content, "from the second");
  }
});

Deno.test("a fine-tuned model has no fallback", async () => {
  const provider = createScriptedProvider(BUSY);
  const { service } = agentService(provider, { environment: { HUB_FALLBACK: "b/second" } });
  const headers = { "x-model-id": crypto.randomUUID() };
  assertEquals((await service(agentRequestOf(BODY, { headers }))).status, 502);
  assertEquals(provider.requests.length, 1);
});

const MISTRAL = "mistral/large";

/** Refuses other ids of tool calls than Mistral's. */
const strict: Answer = (request) => {
  const { messages } = request.body as { messages: { tool_calls?: { id: string }[] }[] };
  const ids = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  const wrong = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
  const refusal = errorStatus(400, { message: `Tool call id was ${wrong} but must be …` });
  return (wrong ? refusal : completion())(request);
};

Deno.test("a fallback of another provider gets ids of tool calls that it takes", async () => {
  const sum = (id: string) => ({ id, name: "calculator", arguments: '{"expression":"1+1"}' });
  await using double = await startProviderDouble([
    completion({ toolCalls: [sum("call_abcdefghijklmnop"), sum("call00001")] }),
    errorStatus(503),
    strict,
  ]);
  const { service } = agentService(providerOf(double), {
    environment: { HUB_FALLBACK: MISTRAL },
  });
  const response = await service(agentRequestOf(BODY));
  assertEquals([response.status, response.headers.get("x-agent-model")], [200, MISTRAL]);
  const { messages } = double.requests.at(-1)!.body;
  const made = messages.at(-3).tool_calls.map(({ id }: { id: string }) => id);
  const answered = messages.slice(-2).map(({ tool_call_id }: Record<string, string>) =>
    tool_call_id
  );
  assertEquals([made, answered], [["call00002", "call00001"], ["call00002", "call00001"]]);
});

Deno.test("a fallback of the same provider gets the ids of tool calls as they are", async () => {
  const provider = createScriptedProvider(BUSY, {});
  const toolCalls = [{ id: "call_abcdefghijklmnop", name: "f", arguments: "{}" }];
  const messages = [{ role: "assistant" as const, content: "", toolCalls }];
  await createFallback(provider, ["a/first", "a/second"]).complete({ model: "a/first", messages });
  const [, { model, messages: sent }] = provider.requests as [unknown, ChatRequest];
  assertEquals([model, sent], ["a/second", messages]);
});

Deno.test("a turn of another provider in a history gets such ids, one of the same keeps its own", async () => {
  const id = "function-call-123";
  const extra_content = { google: { thought_signature: "x" } };
  const made = { id, type: "function", function: { name: "look", arguments: "{}" }, extra_content };
  const messages = [
    { type: "human", content: "Hi" },
    {
      type: "ai",
      content: "",
      additional_kwargs: { tool_calls: [made], from_model: "google/gemini" },
    },
    { type: "tool", tool_call_id: id, content: "seen" },
  ];
  await using double = await startProviderDouble([strict, completion()]);
  const { service } = agentService(providerOf(double));
  for (const model of [MISTRAL, "google/gemini-flash"]) {
    const headers = { "x-model-id": model };
    const response = await service(agentRequestOf({ messages }, { headers }));
    assertEquals(response.status, 200);
    await response.body?.cancel();
  }
  const answered = double.requests.map(({ body }) => body.messages.at(-1).tool_call_id);
  assertEquals(answered, ["call00001", id]);
});

for (const accept of ["application/json", "text/event-stream"]) {
  Deno.test(`a fallback is asked at once if the model wants a long wait, ${accept}`, async () => {
    const busy = errorStatus(429, { headers: { "retry-after": "20" } });
    const soon = errorStatus(429, { headers: { "retry-after-ms": "1" } });
    const last = accept === "application/json" ? completion() : sse(completionChunks());
    await using double = await startProviderDouble([busy, soon, last]);
    const { service } = agentService(providerOf(double, { retries: 2, timeoutMs: 120_000 }), {
      environment: { HUB_FALLBACK: "c/d" },
    });
    const response = await service(agentRequestOf(BODY, { headers: { accept } }));
    await response.body?.cancel();
    assertEquals([response.status, response.headers.get("x-agent-model")], [200, "c/d"]);
    assertEquals(double.requests.map(({ body }) => body.model), ["a/b", "c/d", "c/d"]);
  });
}

Deno.test("the error about empty answers names the fallback that gave them", async () => {
  const empty = completion({ content: null });
  await using double = await startProviderDouble([errorStatus(503), empty]);
  const { service } = agentService(providerOf(double), { environment: { HUB_FALLBACK: "c/d" } });
  const { code, detail } = await (await service(agentRequestOf(BODY))).json();
  assertEquals(code, "empty_reply");
  assertEquals(detail, 'cannot get a reply for model "c/d": it sent an empty answer twice');
});
