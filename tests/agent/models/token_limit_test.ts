import { assertEquals } from "@std/assert";
import { hubOf } from "../../fakes/openai_provider.ts";
import { openAIRoutes } from "../../fakes/openai_routes.ts";
import {
  type Answer,
  completion,
  completionChunks,
  errorStatus,
  json,
  type ReceivedRequest,
  sse,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

const OLDER = "max_tokens";
const NEWER = "max_completion_tokens";

/** Each refuses one of the names of the limit, in its own words. */
const OPENAI = refusing(
  OLDER,
  errorStatus(400, {
    message: `Unsupported parameter: '${OLDER}' is not supported with this model. ` +
      `Use '${NEWER}' instead.`,
  }),
);
const MISTRAL = refusing(
  NEWER,
  json({
    object: "error",
    message: {
      detail: [{
        type: "extra_forbidden",
        loc: ["body", NEWER],
        msg: "Extra inputs are not permitted",
      }],
    },
  }, { status: 422 }),
);

function refusing(field: string, refusal: Answer): Answer {
  return (request) => {
    if (field in request.body) return refusal(request);
    return (request.body.stream ? sse(completionChunks()) : completion())(request);
  };
}

const limitsOf = ({ body }: ReceivedRequest) => [body[OLDER], body[NEWER]];
const MESSAGES = [{ role: "user", content: "Hi" }];

for (const stream of [false, true]) {
  const way = stream ? "streamed" : "whole";

  Deno.test(`a model that refuses max_tokens gets the limit under its newer name, ${way}`, async () => {
    await using double = await startProviderDouble(OPENAI);
    const { post } = openAIRoutes(hubOf(double));
    for (let call = 0; call < 2; call++) {
      const body = { input: "Hi", max_output_tokens: 9, stream };
      const response = await post("responses", body);
      assertEquals(response.status, 200);
      await response.body?.cancel();
    }
    const newer = [undefined, 9];
    assertEquals(double.requests.map(limitsOf), [[9, undefined], newer, newer]);
  });

  Deno.test(`a model that refuses max_completion_tokens gets the limit under its older name, ${way}`, async () => {
    await using double = await startProviderDouble(MISTRAL);
    const { post } = openAIRoutes(hubOf(double));
    for (let call = 0; call < 2; call++) {
      const body = { messages: MESSAGES, [NEWER]: 9, stream };
      const response = await post("chat/completions", body);
      assertEquals(response.status, 200);
      await response.body?.cancel();
    }
    const older = [9, undefined];
    assertEquals(double.requests.map(limitsOf), [[undefined, 9], older, older]);
  });
}

Deno.test("a limit that is too large is reported after one call, under either name", async () => {
  for (const name of [OLDER, NEWER]) {
    const message = `${name} is too large: 9. This model supports at most 4 completion tokens.`;
    await using double = await startProviderDouble(errorStatus(400, { message }));
    const body = { messages: MESSAGES, [name]: 9 };
    const response = await openAIRoutes(hubOf(double)).post("chat/completions", body);
    assertEquals([response.status, double.requests.length], [400, 1]);
    assertEquals((await response.json()).error.message, message);
  }
});

Deno.test("a model that refuses both names is asked once more with each", async () => {
  const message = `Unsupported parameter: use ${NEWER} instead`;
  await using double = await startProviderDouble(errorStatus(400, { message }));
  const body = { messages: MESSAGES, [OLDER]: 9 };
  const response = await openAIRoutes(hubOf(double)).post("chat/completions", body);
  assertEquals([response.status, double.requests.length], [400, 3]);
});
