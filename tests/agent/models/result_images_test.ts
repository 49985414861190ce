import { assertEquals } from "@std/assert";
import { hubOf } from "../../fakes/openai_provider.ts";
import { openAIRoutes } from "../../fakes/openai_routes.ts";
import {
  type Answer,
  completion,
  errorStatus,
  type ReceivedRequest,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

const URL = "data:image/png;base64,AAAA";
const IMAGE = { type: "image_url", image_url: { url: URL } };
const INPUT = [
  { role: "user", content: "Look." },
  { type: "function_call", call_id: "c1", name: "shoot", arguments: "{}" },
  {
    type: "function_call_output",
    call_id: "c1",
    output: [{ type: "input_text", text: "A shot." }, { type: "input_image", image_url: URL }],
  },
];
const tools = [{ type: "function", name: "shoot", parameters: { type: "object" } }];

type Message = { role: string; content: unknown };
const lastOf = ({ body }: ReceivedRequest): Message[] => body.messages.slice(-2);

/** Refuses images that are not in a user's message, as OpenAI does. */
const strict: Answer = (request) => {
  const isRefused = request.body.messages.some(({ role, content }: Message) =>
    role !== "user" && JSON.stringify(content)?.includes("image_url")
  );
  const message = "Image URLs are only allowed for messages with role 'user'.";
  return (isRefused ? errorStatus(400, { message }) : completion())(request);
};

Deno.test("images in the result of a caller's tool follow it if the model refuses them there", async () => {
  await using double = await startProviderDouble(strict);
  const { post } = openAIRoutes(hubOf(double));
  for (let asked = 0; asked < 2; asked++) {
    const response = await post("responses", { input: INPUT, tools });
    assertEquals([response.status, (await response.json()).status], [200, "completed"]);
  }
  const [first, ...others] = double.requests.map(lastOf);
  assertEquals(first![1]!.content, [{ type: "text", text: "A shot." }, IMAGE]);
  assertEquals(others.length, 2);
  for (const [result, shown] of others) {
    assertEquals([result!.role, result!.content], ["tool", "A shot.\n\n(an image)"]);
    assertEquals([shown!.role, (shown!.content as unknown[]).at(-1)], ["user", IMAGE]);
  }
});

Deno.test("a model that takes images in results gets them there", async () => {
  await using double = await startProviderDouble(completion());
  const { post } = openAIRoutes(hubOf(double));
  await (await post("responses", { input: INPUT, tools })).text();
  assertEquals(double.requests.map(lastOf).map(([, result]) => result!.role), ["tool"]);
});

Deno.test("a caller's images are never left out: their refusal is passed on", async () => {
  let isBroken = true;
  await using double = await startProviderDouble((request) => {
    const hasImage = JSON.stringify(request.body.messages).includes("image_url");
    const isRefused = isBroken && hasImage;
    return (isRefused ? errorStatus(400, { message: "no image" }) : completion())(request);
  });
  const { post } = openAIRoutes(hubOf(double));
  const refused = await post("responses", { input: INPUT, tools });
  assertEquals([refused.status, double.requests.length], [400, 2]);
  await refused.text();
  isBroken = false;
  await (await post("responses", { input: INPUT, tools })).text();
  assertEquals(JSON.stringify(double.requests.at(-1)!.body.messages).includes("image_url"), true);
});
