import { assertEquals } from "@std/assert";
import { agentRequestOf, agentService } from "../fakes/agent_service.ts";
import { readChunks, readEvents } from "../fakes/events.ts";
import { providerOf } from "../fakes/openai_provider.ts";
import { openAIRoutes } from "../fakes/openai_routes.ts";
import { json, type ProviderDouble, sse, startProviderDouble } from "../fakes/provider_double.ts";

/** Answers of models that have no text and are answers all the same. */

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

function serve({ message, deltas, finishReason }: Textless): Promise<ProviderDouble> {
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
      await using double = await serve(answer);
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
      await using double = await serve(answer);
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
      await using double = await serve(answer);
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
