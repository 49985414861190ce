import { assertEquals, assertStringIncludes } from "@std/assert";
import { agentRequestOf, agentService } from "../fakes/agent_service.ts";
import { readChunks, readEvents } from "../fakes/events.ts";
import { hubOf, providerOf } from "../fakes/openai_provider.ts";
import { openAIRoutes } from "../fakes/openai_routes.ts";
import {
  completion,
  json,
  type ProviderDouble,
  sse,
  startProviderDouble,
} from "../fakes/provider_double.ts";
import { createScriptedProvider } from "../fakes/scripted_provider.ts";

const constructor = (name: string, kwargs: Record<string, unknown>) => ({
  lc: 1,
  type: "constructor",
  id: ["langchain_core", "messages", name],
  kwargs,
});

const FORMS: Record<string, unknown[]> = {
  "{type, content}": [
    { type: "system", content: "Be kind." },
    { type: "human", content: "Hi" },
    { type: "ai", content: "Hello" },
    { type: "human", content: "Bye" },
  ],
  "{role, content}": [
    { role: "system", content: "Be kind." },
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hello" },
    { role: "user", content: "Bye" },
  ],
  "tuples": [["system", "Be kind."], ["user", "Hi"], ["ai", "Hello"], ["human", "Bye"]],
  "stored messages": [
    { type: "system", data: { content: "Be kind." } },
    { type: "human", data: { content: "Hi" } },
    { type: "ai", data: { content: "Hello", tool_calls: [] } },
    { type: "human", data: { content: "Bye" } },
  ],
  "messages of JSON.stringify": [
    constructor("SystemMessage", { content: "Be kind." }),
    constructor("HumanMessage", { content: "Hi" }),
    constructor("AIMessageChunk", { content: "Hello" }),
    constructor("HumanMessage", { content: "Bye" }),
  ],
};

for (const [form, messages] of Object.entries(FORMS)) {
  Deno.test(`POST / takes ${form}, and settings beside them`, async () => {
    const provider = createScriptedProvider({ content: "Fine." });
    const { service } = agentService(provider);
    const response = await service(agentRequestOf({ messages, temperature: 0, max_tokens: 9 }));
    assertEquals((await response.json()).content, "Fine.");
    const [request] = provider.requests;
    assertEquals(request?.messages, [
      { role: "system", content: "Be kind." },
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello" },
      { role: "user", content: "Bye" },
    ]);
    assertEquals([request?.temperature, request?.maxTokens], [0, 9]);
  });
}

Deno.test("settings stand beside a prompt, too", async () => {
  const provider = createScriptedProvider({ content: "Fine." });
  const { service } = agentService(provider);
  await service(agentRequestOf({ prompt: "Hi", temperature: 0, max_tokens: 9 }));
  const [request] = provider.requests;
  assertEquals([request?.temperature, request?.maxTokens], [0, 9]);
});

Deno.test("fields that have no meaning are named in a header, whole and streamed", async () => {
  for (const accept of ["application/json", "text/event-stream"]) {
    const { service } = agentService(createScriptedProvider({ content: "Fine." }));
    const ignored = async (fields: Record<string, unknown>) => {
      const response = await service(
        agentRequestOf({ prompt: "Hi", ...fields }, { headers: { accept } }),
      );
      await response.text();
      assertEquals(response.status, 200);
      return response.headers.get("x-agent-ignored-fields");
    };
    assertEquals(await ignored({ temperature: 1 }), null);
    assertEquals(
      await ignored({ top_p: 0.5, stream: true, "größe\n": 1 }),
      "top_p, stream, gr%C3%B6%C3%9Fe%0A",
    );
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`field_${n}`, n]));
    assertEquals((await ignored(many))?.split(", ").length, 21);
  }
});

Deno.test("a misspelt field is refused, and the error names what was meant", async () => {
  const cases = {
    message: "messages",
    Messages: "messages",
    promt: "prompt",
    max_token: "max_tokens",
    temprature: "temperature",
  };
  for (const [name, meant] of Object.entries(cases)) {
    const provider = createScriptedProvider();
    const { service } = agentService(provider);
    const body = {
      [name]: 1,
      ...(meant === "prompt" || meant === "messages" ? {} : { prompt: "Hi" }),
    };
    const response = await service(agentRequestOf(body));
    const { errors } = await response.json();
    assertEquals(response.status, 400);
    assertEquals(errors, [{ path: name, message: `unknown field; did you mean ${meant}?` }]);
    assertEquals(provider.requests, []);
  }
});

const PNG = "iVBORw0KGgo=";
const text = { type: "text", text: "What is this?" };
const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } };
const audio = { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } };
const file = {
  type: "file",
  file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBE" },
};
const unknown = { type: "video_url", video_url: { url: "https://example.com/a.mp4" } };
const PARTS = [text, image, audio, file, unknown];

const serve = (double: ProviderDouble) => agentService(providerOf(double)).service;

function completionRequest(messages: unknown[], headers: Record<string, string> = {}): Request {
  return new Request("http://127.0.0.1:8000/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "a/b", messages }),
  });
}

/** The content of the user's last message, as the provider got it. */
function contentIn({ requests }: ProviderDouble) {
  return requests.at(-1)?.body.messages
    .findLast(({ role }: { role: string }) => role === "user").content;
}

Deno.test("image, audio, file and unknown parts reach the provider unchanged on every route", async () => {
  await using double = await startProviderDouble(completion());
  const service = serve(double);
  const later = { type: "human", content: "And now?" };
  const requests = [
    agentRequestOf({ messages: [{ type: "human", content: PARTS }] }),
    completionRequest([{ role: "user", content: PARTS }]),
    completionRequest([{ role: "user", content: PARTS }], { "x-agent-tools": "off" }),
  ];
  for (const request of requests) {
    assertEquals((await service(request)).status, 200);
    assertEquals(contentIn(double), PARTS);
  }
  const history = [{ type: "human", content: PARTS }, { type: "ai", content: "A dot." }, later];
  await service(agentRequestOf({ messages: history }));
  assertEquals(double.requests.at(-1)?.body.messages[1].content, PARTS);
});

Deno.test("LangChain's content blocks are sent as OpenAI's parts", async () => {
  await using double = await startProviderDouble(completion());
  const service = serve(double);
  const cases: [unknown, unknown][] = [
    ["plain text", { type: "text", text: "plain text" }],
    [{ type: "image_url", image_url: "https://a.org/b.png" }, {
      type: "image_url",
      image_url: { url: "https://a.org/b.png" },
    }],
    [{ type: "image", source_type: "base64", mime_type: "image/png", data: PNG }, image],
    [{ type: "image", base64: PNG, mime_type: "image/png" }, image],
    [{ type: "image", source_type: "url", url: "https://a.org/b.png" }, {
      type: "image_url",
      image_url: { url: "https://a.org/b.png" },
    }],
    [{ type: "audio", source_type: "base64", mime_type: "audio/wav", data: "UklGRg==" }, audio],
    [{ type: "audio", base64: "SUQz", mime_type: "audio/mpeg" }, {
      type: "input_audio",
      input_audio: { data: "SUQz", format: "mp3" },
    }],
    [
      {
        type: "file",
        source_type: "base64",
        mime_type: "application/pdf",
        data: "JVBE",
        metadata: { filename: "a.pdf" },
      },
      file,
    ],
    [{ type: "file", file: { file_id: "file-1" } }, { type: "file", file: { file_id: "file-1" } }],
  ];
  for (const [block, part] of cases) {
    await service(agentRequestOf({ messages: [{ type: "human", content: [block, image] }] }));
    assertEquals(contentIn(double), [part, image]);
  }
});

Deno.test("a list of plain texts is sent as text, which every provider takes", async () => {
  await using double = await startProviderDouble(completion());
  const content = [{ type: "text", text: "Hello, " }, "you", { type: "input_text", text: "!" }];
  await serve(double)(agentRequestOf({ messages: [{ type: "human", content }] }));
  assertEquals(contentIn(double), "Hello, you!");
});

Deno.test("an empty text beside an image is left out, because several providers refuse it", async () => {
  await using double = await startProviderDouble(completion());
  const content = [{ type: "text", text: "" }, image, { type: "text", text: " " }, audio];
  const service = serve(double);
  for (
    const request of [
      agentRequestOf({ messages: [{ type: "human", content }] }),
      completionRequest([{ role: "user", content }]),
    ]
  ) {
    await service(request);
    assertEquals(contentIn(double), [image, audio]);
  }
});

Deno.test("too many or too large images are refused before the provider is asked", async () => {
  await using double = await startProviderDouble(completion());
  const { service } = agentService(providerOf(double), {
    environment: { MAX_BODY_BYTES: "30000000" },
  });
  const large = { type: "image_url", image_url: { url: "x".repeat(20_000_001) } };
  const cases: [unknown[], string][] = [
    [Array(101).fill(image), "101 images, sounds and files; at most 100"],
    [[large], "over 20000000 characters"],
  ];
  for (const [content, reason] of cases) {
    for (
      const request of [
        agentRequestOf({ messages: [{ type: "human", content }] }),
        completionRequest([{ role: "user", content }], { "x-agent-tools": "off" }),
      ]
    ) {
      const response = await service(request);
      assertEquals(response.status, 400);
      assertStringIncludes(await response.text(), reason);
    }
  }
  assertEquals(double.requests, []);
});

/** Conversations that a model refuses are changed for it; the answer says how. */

type Sent = { role: string; content: string; tool_calls?: { id: string }[] };

const ai = (...ids: string[]) => ({
  type: "ai",
  content: "",
  tool_calls: ids.map((id) => ({ id, name: "weather", args: {} })),
});
const result = (id: string) => ({ type: "tool", content: "sun", tool_call_id: id });
const human = (content: string) => ({ type: "human", content });

async function ask(refuse: (messages: Sent[]) => string | undefined, messages: unknown[]) {
  await using double = await startProviderDouble((request) => {
    const message = refuse(request.body.messages);
    if (!message) return completion({ content: "Fine." })(request);
    return Response.json({ error: { message } }, { status: 400 });
  });
  const { service } = agentService(hubOf(double));
  const repairs: (string | null)[] = [];
  for (let time = 0; time < 2; time++) {
    const response = await service(agentRequestOf({ messages }));
    assertEquals((await response.json()).content, "Fine.");
    repairs.push(response.headers.get("x-history-repairs"));
  }
  return { repairs, sent: double.requests.map(({ body }) => body.messages as Sent[]) };
}

Deno.test("a valid history reaches the provider as it is", async () => {
  const { sent, repairs } = await ask(
    () => undefined,
    [human("?"), ai("call_1", "call_2"), result("call_1"), result("call_2"), human("and?")],
  );
  const roles = sent[0]!.map(({ role }) => role);
  assertEquals(roles, ["system", "user", "assistant", "tool", "tool", "user"]);
  assertEquals(sent[0]![2]!.tool_calls!.map(({ id }) => id), ["call_1", "call_2"]);
  assertEquals(repairs, [null, null]);
});

Deno.test("a model that wants roles to alternate gets them so, from then on, and the repairs are counted", async () => {
  const { sent, repairs } = await ask(
    (messages) =>
      messages.some(({ role }, at) => role === "user" && messages[at - 1]?.role === "user")
        ? "Conversation roles must alternate user/assistant/user/assistant/..."
        : undefined,
    [human("a"), human("b")],
  );
  assertEquals(sent.map((messages) => messages.length), [3, 2, 2]);
  assertEquals(sent[1]![1]!.content, "a\n\nb");
  assertEquals(repairs, ["merged=1", "merged=1"]);
});

Deno.test("a model that refuses system messages gets the prompt in the first user message", async () => {
  const { sent, repairs } = await ask(
    (messages) =>
      messages.some(({ role }) => role === "system") ? "System role not supported" : undefined,
    [human("Hi")],
  );
  assertEquals(sent.map((messages) => messages.map(({ role }) => role).join(" ")), [
    "system user",
    "user",
    "user",
  ]);
  assertEquals(sent[1]![0]!.content, `${sent[0]![0]!.content}\n\nHi`);
  assertEquals(repairs, ["system=1", "system=1"]);
});

Deno.test("AGENT_SYSTEM_PROMPT=none sends no system prompt", async () => {
  await using double = await startProviderDouble(completion({ content: "Fine." }));
  const environment = { AGENT_SYSTEM_PROMPT: "none" };
  const { service } = agentService(hubOf(double), { environment });
  await (await service(agentRequestOf({ messages: [human("Hi")] }))).body?.cancel();
  assertEquals(double.requests[0]!.body.messages, [{ role: "user", content: "Hi" }]);
});

/** Valid answers of models without text. */

interface Textless {
  message: Record<string, unknown>;
  /** The same in a stream. */
  deltas: Record<string, unknown>[];
  finishReason: string;
  /** The fields that the caller gets. */
  kept: Record<string, unknown>;
}

const AUDIO = { id: "audio_1", data: "AAAABBBB", transcript: "Hello there.", expires_at: 1 };
const IMAGES = [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }];
const IMAGE_PARTS = [{ type: "image_url", image_url: { url: "https://example.org/a.png" } }];
const ANSWERS: Record<string, Textless> = {
  speech: {
    message: { content: null, audio: AUDIO },
    deltas: [
      { audio: { id: "audio_1", transcript: "Hello " } },
      { audio: { data: "AAAA", transcript: "there." } },
      { audio: { data: "BBBB", expires_at: 1 } },
    ],
    finishReason: "stop",
    kept: { audio: AUDIO },
  },
  images: {
    message: { content: "", images: IMAGES },
    deltas: [{ content: "", images: IMAGES }],
    finishReason: "stop",
    kept: { images: IMAGES },
  },
  "an image as a part of the content": {
    message: { content: IMAGE_PARTS },
    deltas: [{ content: IMAGE_PARTS }],
    finishReason: "stop",
    kept: { content_parts: IMAGE_PARTS },
  },
  "thoughts up to the limit of tokens": {
    message: { content: "", reasoning_content: "Well, first" },
    deltas: [{ content: "", reasoning_content: "Well, " }, { reasoning_content: "first" }],
    finishReason: "length",
    kept: { reasoning_content: "Well, first" },
  },
  "nothing that passed the content filter": {
    message: { content: "" },
    deltas: [{ content: "" }],
    finishReason: "content_filter",
    kept: {},
  },
};

function startDouble({ message, deltas, finishReason }: Textless): ProviderDouble {
  const choice = (fields: unknown, finish_reason: string | null = null) => ({
    choices: [{ index: 0, ...Object(fields), finish_reason }],
  });
  return startProviderDouble((request) => {
    if (!request.body.stream) return json(choice({ message }, finishReason))(request);
    const chunks = deltas.map((delta) => choice({ delta }));
    return sse([...chunks, choice({ delta: {} }, finishReason)])(request);
  });
}

for (const [what, answer] of Object.entries(ANSWERS)) {
  const { finishReason, kept } = answer;

  Deno.test(`${what}: an answer of POST / after one call`, async () => {
    for (const accept of ["application/json", "text/event-stream"]) {
      await using double = await startDouble(answer);
      const { service } = agentService(providerOf(double));
      const response = await service(agentRequestOf({ prompt: "Hi" }, { headers: { accept } }));
      const body = accept === "application/json"
        ? await response.json()
        : (await Array.fromAsync(readEvents(response))).find(({ event }) => event === "message")
          ?.data;
      assertEquals([response.status, double.requests.length], [200, 1]);
      const { refusal: _, from_model: __, ...fields } = body.additional_kwargs;
      assertEquals([body.content, fields], ["", kept]);
      assertEquals(body.response_metadata.finish_reason, finishReason);
    }
  });

  Deno.test(`${what}: a chat completion after one call`, async () => {
    for (const stream of [false, true]) {
      await using double = await startDouble(answer);
      const { post } = openAIRoutes(providerOf(double));
      const messages = [{ role: "user", content: "Hi" }];
      const response = await post("chat/completions", { messages, stream });
      const choices = stream
        ? (await readChunks(response)).map(({ choices: [choice] }) => choice)
        : (await response.json()).choices;
      assertEquals([response.status, double.requests.length], [200, 1]);
      assertEquals(choices.at(-1).finish_reason, finishReason);
      const messagesOf = choices.map(({ delta, message }: Record<string, unknown>) =>
        message ?? delta
      );
      const [name, value] = Object.entries(kept)[0] ?? [];
      if (!name) continue;
      const seen = messagesOf.map((fields: Record<string, unknown>) => fields[name]).filter(
        Boolean,
      );
      assertEquals(name === "reasoning_content" ? seen.join("") : seen[0], value);
    }
  });

  Deno.test(`${what}: a response after one call, incomplete if it was cut off`, async () => {
    for (const stream of [false, true]) {
      await using double = await startDouble(answer);
      const { post } = openAIRoutes(providerOf(double));
      const response = await post("responses", { input: "Hi", stream });
      const body = stream
        ? (await Array.fromAsync(readEvents(response))).at(-1)!.data.response
        : await response.json();
      assertEquals([response.status, double.requests.length], [200, 1]);
      const isCut = finishReason !== "stop";
      assertEquals(body.status, isCut ? "incomplete" : "completed");
      const reason = finishReason === "length" ? "max_output_tokens" : finishReason;
      assertEquals(body.incomplete_details, isCut ? { reason } : null);
    }
  });
}
