import { assertEquals, assertStringIncludes } from "@std/assert";
import { agentRequestOf, agentService } from "../fakes/agent_service.ts";
import { providerOf } from "../fakes/openai_provider.ts";
import { completion, type ProviderDouble, startProviderDouble } from "../fakes/provider_double.ts";

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
