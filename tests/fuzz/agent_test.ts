import fc from "seeded-fast-check";
import { createDemoProvider } from "../../agent/core/models/demo.ts";
import { DEMO_MODEL, DEMO_STUDIO } from "../../agent/core/models/choice.ts";
import { agentRequestOf, agentService } from "../fakes/agent_service.ts";
import { createScriptedProvider } from "../fakes/scripted_provider.ts";
import { ADDRESSES, BODIES, checkAnswers } from "./answers.ts";
import { anything, bodies, headerValue, isHeaderValue, leaf, query, text } from "./hostile.ts";

/** Nearly valid: known keys with any values. */
const message = fc.dictionary(fc.constantFrom("type", "content", "name", "__proto__", "x"), leaf);
const ownBody = fc.oneof(
  anything,
  fc.record({ messages: fc.oneof(leaf, fc.array(fc.oneof(message, leaf), { maxLength: 5 })) }),
  fc.record({
    messages: fc.array(
      fc.record({
        type: fc.constantFrom("human", "ai", "tool"),
        content: text,
        name: fc.option(text),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  }),
);

const model = fc.constantFrom(DEMO_MODEL, DEMO_STUDIO.id, "a/b", "neither");
const said = fc.oneof(text, fc.constantFrom("What is 17 * 23?", "What time is it?", "1/0 = ?"));
const part = fc.record({ type: fc.oneof(fc.constant("text"), leaf), text: fc.oneof(text, leaf) });
const call = fc.record({
  id: fc.oneof(fc.constantFrom("c1", "c2"), leaf),
  function: fc.record({ name: fc.oneof(fc.constant("calculator"), leaf), arguments: text }),
}, { requiredKeys: [] });
const conversation = fc.array(
  fc.record({
    role: fc.constantFrom("system", "developer", "user", "assistant"),
    content: said,
  }),
  { minLength: 1, maxLength: 4 },
);
const openaiMessage = fc.oneof(
  leaf,
  fc.record({
    role: fc.constantFrom("system", "developer", "user", "assistant", "tool", "function"),
    name: fc.oneof(fc.constant("calculator"), leaf),
    function_call: fc.oneof(leaf, fc.record({ name: leaf, arguments: leaf })),
    content: fc.oneof(said, leaf, fc.array(part, { maxLength: 2 })),
    tool_calls: fc.oneof(leaf, fc.array(call, { maxLength: 2 })),
    tool_call_id: fc.oneof(fc.constantFrom("c1", "c2"), leaf),
  }, { requiredKeys: ["role"] }),
);
const FIELDS = [
  "model",
  "messages",
  "stream",
  "stream_options",
  "n",
  "temperature",
  "max_tokens",
  "tools",
  "tool_choice",
  "functions",
  "function_call",
  "stop",
  "response_format",
  "logit_bias",
];
const openaiBody = fc.oneof(
  anything,
  fc.record({ model, messages: fc.array(openaiMessage, { maxLength: 3 }), stream: fc.boolean() }),
  {
    weight: 3,
    arbitrary: fc.record({
      model: fc.constantFrom(DEMO_MODEL, DEMO_STUDIO.id),
      messages: conversation,
      stream: fc.boolean(),
    }),
  },
  fc.record({
    model: fc.oneof({ weight: 4, arbitrary: model }, { weight: 1, arbitrary: text }),
    messages: conversation,
    stream: fc.boolean(),
    stream_options: fc.record({ include_usage: fc.boolean() }),
    field: fc.constantFrom(...FIELDS),
    value: leaf,
  }).map(({ field, value, ...body }) => ({ ...body, [field]: value })),
);

const item = fc.oneof(
  leaf,
  fc.record({
    type: fc.oneof(
      fc.constantFrom(
        ...["message", "function_call", "function_call_output", "reasoning", "item_reference"],
      ),
      leaf,
    ),
    role: fc.constantFrom("system", "developer", "user", "assistant"),
    content: fc.oneof(said, leaf, fc.array(part, { maxLength: 2 })),
    call_id: fc.oneof(fc.constantFrom("c1", "c2"), leaf),
    name: fc.oneof(fc.constant("calculator"), leaf),
    arguments: fc.oneof(text, leaf),
    output: fc.oneof(text, leaf, fc.array(part, { maxLength: 2 })),
    summary: fc.oneof(leaf, fc.array(part, { maxLength: 2 })),
    encrypted_content: fc.oneof(leaf, text.map((text) => `assay.${text}`)),
    id: leaf,
  }, { requiredKeys: [] }),
);
const RESPONSE_FIELDS = [
  "model",
  "input",
  "instructions",
  "tools",
  "tool_choice",
  "text",
  "reasoning",
  "include",
  "max_output_tokens",
  "metadata",
  "previous_response_id",
];
const responsesBody = fc.oneof(
  anything,
  fc.record({
    model: fc.constantFrom(DEMO_MODEL, `${DEMO_MODEL}:plain`),
    input: fc.oneof(said, fc.array(item, { maxLength: 4 })),
    stream: fc.boolean(),
    field: fc.constantFrom("x", ...RESPONSE_FIELDS),
    value: leaf,
  }).map(({ field, value, ...body }) => ({ ...body, [field]: value })),
);

const accept = fc.constantFrom("application/json", "text/event-stream");

Deno.test("no body makes POST / of the agent fail, streamed or not", async () => {
  const { service } = agentService(createScriptedProvider());
  await checkAnswers({
    count: BODIES,
    requests: fc.tuple(bodies(ownBody), accept),
    ask: ([body, accept]) => service(agentRequestOf(body, { headers: { accept } })),
  });
});

Deno.test("no body makes POST /v1/chat/completions fail, by the agent or without it", async () => {
  const { service } = agentService(createDemoProvider());
  const headers = fc.record({
    "x-agent-tools": fc.constantFrom("off", "on"),
    "x-agent-events": fc.constantFrom("tools", "none"),
  }, { requiredKeys: [] });
  await checkAnswers({
    count: BODIES,
    requests: fc.tuple(bodies(openaiBody), headers),
    ask: ([body, headers]) =>
      service(
        new Request("http://127.0.0.1:8000/v1/chat/completions", {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body,
        }),
      ),
  });
});

Deno.test("no body makes POST /v1/responses fail, by the agent or without it", async () => {
  const { service } = agentService(createDemoProvider());
  await checkAnswers({
    count: ADDRESSES,
    requests: bodies(responsesBody),
    ask: (body) =>
      service(
        new Request("http://127.0.0.1:8000/v1/responses", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
        }),
      ),
  });
});

Deno.test("no headers make POST / of the agent fail", async () => {
  const { service } = agentService(createScriptedProvider(), { environment: { API_KEYS: "k" } });
  const body = { messages: [{ type: "human", content: "Hi" }] };
  const mostly = (...values: string[]) =>
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...values) }, headerValue);
  const headers = fc.record({
    "x-model-id": fc.oneof(
      headerValue,
      fc.uuid(),
      fc.tuple(headerValue, headerValue).map((parts) => parts.join("/")).filter(isHeaderValue),
    ),
    "x-api-key": mostly("k"),
    authorization: mostly("Bearer k", "bearer  k "),
    accept: mostly("text/event-stream", "*/*;q=x", "text/event-stream;q=0"),
    host: mostly("localhost", "127.0.0.1:8000", "[::1]"),
    origin: mostly("http://localhost:3000", "http://127.0.0.1"),
    "content-encoding": mostly("identity"),
    "content-length": mostly("0", "-1", "x"),
    "x-request-id": headerValue,
    traceparent: headerValue,
  }, { requiredKeys: ["x-model-id", "x-api-key"] });
  await checkAnswers({
    count: ADDRESSES,
    requests: headers,
    ask: (headers) => service(agentRequestOf(body, { headers })),
  });
});

Deno.test("no query makes GET /route fail", async () => {
  const { service } = agentService(createScriptedProvider());
  await checkAnswers({
    count: ADDRESSES,
    requests: query({ model: fc.oneof(model, fc.uuid()) }),
    ask: (query) => service(new Request(`http://127.0.0.1:8000/route?${query}`)),
  });
});
