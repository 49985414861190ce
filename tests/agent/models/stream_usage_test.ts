import { assertEquals } from "@std/assert";
import { agentRequestOf, agentService } from "../../fakes/agent_service.ts";
import { failure, hubOf, REQUEST, WAYS } from "../../fakes/openai_provider.ts";
import {
  type Answer,
  completionChunks,
  errorStatus,
  json,
  sse,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

/** Mistral's words, and those of older versions of Azure. */
const REFUSALS: Record<string, Answer> = {
  Mistral: json({
    object: "error",
    message: {
      detail: [{
        type: "extra_forbidden",
        loc: ["body", "stream_options", "include_usage"],
        msg: "Extra inputs are not permitted",
        input: true,
      }],
    },
    type: "invalid_request_error",
  }, { status: 422 }),
  Azure: errorStatus(400, { message: "Unrecognized request argument supplied: stream_options" }),
};

const strict = (refusal: Answer): Answer => (request) =>
  (request.body.stream_options ? refusal : sse(completionChunks()))(request);

const asksForUsage = ({ body }: { body: Record<string, unknown> }) => "stream_options" in body;

for (const [name, refusal] of Object.entries(REFUSALS)) {
  Deno.test(`a provider that refuses stream_options as ${name} does is asked without them from then on`, async () => {
    await using double = await startProviderDouble(strict(refusal));
    const provider = hubOf(double);
    for (let call = 0; call < 2; call++) await WAYS.stream(provider);
    assertEquals(double.requests.map(asksForUsage), [true, false, false]);
    await Array.fromAsync(provider.stream({ ...REQUEST, model: "acme/other" }));
    assertEquals(double.requests.map(asksForUsage).slice(3), [true, false]);
  });
}

Deno.test("such a provider streams on every route", async () => {
  await using double = await startProviderDouble(strict(REFUSALS.Mistral!));
  const headers = { accept: "text/event-stream" };
  const bodies = {
    "/": { prompt: "Hi" },
    "/v1/chat/completions": {
      model: "a/b",
      stream: true,
      messages: [{ role: "user", content: "Hi" }],
    },
    "/v1/responses": { model: "a/b", stream: true, input: "Hi" },
  };
  for (const [path, body] of Object.entries(bodies)) {
    const { service } = agentService(hubOf(double));
    const request = agentRequestOf(body, { headers });
    const response = await service(new Request(new URL(path, request.url), request));
    assertEquals(response.status, 200);
    assertEquals((await response.text()).includes("there."), true, path);
  }
});

Deno.test("a refusal for another reason is reported, after one call", async () => {
  const error = await failure(errorStatus(400), async (double) => {
    try {
      return await WAYS.stream(hubOf(double));
    } finally {
      assertEquals(double.requests.length, 1);
    }
  });
  assertEquals([error.status, error.code], [400, "provider_refused"]);
});
