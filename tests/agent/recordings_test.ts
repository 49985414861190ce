import { assert, assertEquals } from "@std/assert";
import { providerOf } from "../fakes/openai_provider.ts";
import { agentRequestOf, agentService } from "../fakes/agent_service.ts";
import { readEvents } from "../fakes/events.ts";
import {
  type Answer,
  errorStatus,
  json,
  type ProviderDouble,
  sse,
  startProviderDouble,
} from "../fakes/provider_double.ts";
import deepseek from "./recordings/deepseek.json" with { type: "json" };
import gemini from "./recordings/gemini.json" with { type: "json" };
import mistral from "./recordings/mistral.json" with { type: "json" };
import ollama from "./recordings/ollama.json" with { type: "json" };
import openai from "./recordings/openai.json" with { type: "json" };
import openrouter from "./recordings/openrouter.json" with { type: "json" };

/** Answers of a provider in its documented shape: a turn with tool calls, then one with text. */
interface Recording {
  model: string;
  about: string;
  whole: unknown[];
  chunks: unknown[][];
  /** The first turn as the provider must get it back. */
  sent: Record<string, unknown>;
  /** The last turn as callers get it. */
  answer: Record<string, unknown>;
  /** The thoughts of each turn. */
  reasoning: string[];
}

const RECORDINGS: Record<string, Recording> = {
  gemini,
  deepseek,
  openai,
  mistral,
  ollama,
  openrouter,
};
const WAYS = ["whole", "streamed"] as const;
type Way = (typeof WAYS)[number];

function answersOf({ whole, chunks }: Recording, way: Way): Answer[] {
  return way === "whole" ? whole.map((body) => json(body)) : chunks.map((list) => sse(list));
}

function serve(double: ProviderDouble, environment: Record<string, string> = {}) {
  return agentService(providerOf(double), { environment }).service;
}
type Service = ReturnType<typeof serve>;

/** The reply of `POST /`, and the thoughts that a stream showed. */
async function ask(service: Service, { model, messages, way }: {
  model: string;
  messages: unknown[];
  way: Way;
}) {
  const accept = way === "whole" ? "application/json" : "text/event-stream";
  const headers = { "x-model-id": model, accept };
  const response = await service(agentRequestOf({ messages }, { headers }));
  if (way === "whole") return { reply: await response.json(), thoughts: undefined };
  const events = await Array.fromAsync(readEvents(response));
  const thoughts = events.filter(({ event }) => event === "reasoning").map(({ data }) => data.text);
  const reply = events.find(({ event }) => event === "message")?.data;
  return { reply, thoughts: thoughts.join("") };
}

/** The first message of an assistant in the request at `index`. */
function assistantIn({ requests }: ProviderDouble, index: number) {
  return requests[index]?.body.messages.find(({ role }: { role: string }) => role === "assistant");
}

const QUESTION = { type: "human", content: "What is 17 * 23?" };

for (const [name, recording] of Object.entries(RECORDINGS)) {
  const { model, sent, answer, reasoning } = recording;
  const { content, content_parts, ...fields } = answer;

  for (const way of WAYS) {
    Deno.test(`${name}, ${way}: every field comes back in the tool loop and in a history`, async () => {
      await using double = await startProviderDouble(answersOf(recording, way));
      const service = serve(double);
      const { reply, thoughts } = await ask(service, { model, messages: [QUESTION], way });
      assertEquals(assistantIn(double, 1), sent);
      if (thoughts !== undefined) assertEquals(thoughts, reasoning.join(""));

      assertEquals(reply.content, content);
      const hasFields = Object.keys(answer).length > 1;
      assertEquals(reply.additional_kwargs, {
        refusal: null,
        ...fields,
        ...(content_parts ? { content_parts } : {}),
        ...(hasFields && { from_model: model }),
      });

      const messages = [QUESTION, reply, { type: "human", content: "And doubled?" }];
      await ask(service, { model, messages, way });
      assertEquals(assistantIn(double, 2), {
        role: "assistant",
        content: content_parts ?? content,
        ...fields,
      });
    });
  }

  Deno.test(`${name}: /v1 shows the thoughts as reasoning_content; the provider gets its own form back`, async () => {
    await using double = await startProviderDouble(answersOf(recording, "whole"));
    const service = serve(double);
    const question = { role: "user", content: "What is 17 * 23?" };
    const response = await complete(service, { model, messages: [question] });
    const { message } = (await response.json()).choices[0];
    assertEquals(message.reasoning_content, reasoning.at(-1));
    await complete(service, { model, messages: [question, message, question] });
    assertEquals(assistantIn(double, 2), {
      role: "assistant",
      content: content_parts ?? content,
      ...fields,
    });
  });

  for (const way of WAYS) {
    Deno.test(`${name}, ${way}: every field comes back to /v1/responses, by the items or their ids`, async () => {
      await using double = await startProviderDouble(answersOf(recording, way));
      const service = serve(double);
      const include = ["reasoning.encrypted_content"];
      const items = await respond(service, { model, input: [ASKED], include, way });
      const references = items.map(({ id }) => ({ type: "item_reference", id }));
      for (const earlier of [items, references]) {
        await respond(service, { model, input: [ASKED, ...earlier, ASKED], way });
        assertEquals(assistantIn(double, double.requests.length - 1), {
          role: "assistant",
          content: content_parts ?? content,
          ...fields,
        });
      }
    });
  }
}

const ASKED = { role: "user", content: "What is 17 * 23?" };

/** The output of `POST /v1/responses`. */
async function respond(
  service: Service,
  { way, ...body }: { way: Way } & Record<string, unknown>,
): Promise<{ id: string }[]> {
  const response = await service(
    new Request("http://127.0.0.1:8000/v1/responses", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...body, stream: way === "streamed" }),
    }),
  );
  if (way === "whole") return (await response.json()).output;
  return (await Array.fromAsync(readEvents(response))).at(-1)!.data.response.output;
}

/** `POST /v1/chat/completions`. */
async function complete(service: Service, body: { model: string; messages: unknown[] }) {
  return await service(
    new Request("http://127.0.0.1:8000/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  );
}

Deno.test("a turn with signatures goes to another provider without them", async () => {
  await using double = await startProviderDouble(json(openai.whole[1]));
  const service = serve(double);
  const earlier = {
    type: "ai",
    content: "",
    additional_kwargs: { tool_calls: gemini.sent.tool_calls, from_model: gemini.model },
  };
  const results = gemini.sent.tool_calls.map(({ id }) => ({
    type: "tool",
    tool_call_id: id,
    content: "391",
  }));
  const messages = [QUESTION, earlier, ...results];
  await ask(service, { model: deepseek.model, messages, way: "whole" });
  await ask(service, { model: "google/gemini-3-flash", messages, way: "whole" });
  const [other, same] = [assistantIn(double, 0), assistantIn(double, 1)];
  assert(!JSON.stringify(other).includes("extra_content"));
  assertEquals(other.tool_calls.length, 2);
  assertEquals(same, gemini.sent);
});

Deno.test("thoughts of Mistral go to another provider as the text alone", async () => {
  await using double = await startProviderDouble(json(openai.whole[1]));
  const service = serve(double);
  const { content, ...kwargs } = mistral.answer;
  const earlier = {
    type: "ai",
    content,
    additional_kwargs: { ...kwargs, from_model: mistral.model },
  };
  const messages = [QUESTION, earlier, QUESTION];
  await ask(service, { model: openai.model, messages, way: "whole" });
  assertEquals(assistantIn(double, 0), { role: "assistant", content });
});

Deno.test("a history whose fields name no sender is sent without them by POST /", async () => {
  await using double = await startProviderDouble(json(openai.whole[1]));
  const earlier = { type: "ai", content: "391", additional_kwargs: { parsed: { a: 1 } } };
  const messages = [QUESTION, earlier, QUESTION];
  await ask(serve(double), { model: openai.model, messages, way: "whole" });
  assertEquals(assistantIn(double, 0), { role: "assistant", content: "391" });
});

for (const way of WAYS) {
  Deno.test(`a fallback of another provider gets the turn without the signatures, ${way}`, async () => {
    const [first] = answersOf(gemini, way);
    const [, last] = answersOf(deepseek, way);
    await using double = await startProviderDouble([first!, errorStatus(503), last!]);
    const service = serve(double, { HUB_FALLBACK: deepseek.model });
    const { reply } = await ask(service, { model: gemini.model, messages: [QUESTION], way });
    assertEquals(double.requests.map(({ body }) => body.model), [
      gemini.model,
      gemini.model,
      deepseek.model,
    ]);
    assertEquals(assistantIn(double, 1), gemini.sent);
    assert(!JSON.stringify(assistantIn(double, 2)).includes("extra_content"));
    assertEquals(reply.additional_kwargs.from_model, deepseek.model);
  });
}
