import { assertEquals, assertRejects } from "@std/assert";
import { withAdaptations } from "../../../shared/providers/adapted_requests.ts";
import { ADAPTATIONS } from "../../../shared/providers/adaptations.ts";
import { type ChatMessage, ProviderError } from "../../../shared/providers/provider.ts";
import { providerOf } from "../../fakes/openai_provider.ts";
import {
  completion,
  completionChunks,
  errorStatus,
  type ProviderDouble,
  sse,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

const image = (name: string) => ({
  type: "image_url",
  image_url: { url: `data:image/png,${name}` },
});
const result = (toolCallId: string, names: string[]): ChatMessage => ({
  role: "tool",
  toolCallId,
  content: "(image: image/png)",
  ...(names.length > 0 && { images: names.map(image) }),
});
const MESSAGES: ChatMessage[] = [
  { role: "user", content: "Draw." },
  {
    role: "assistant",
    content: "",
    toolCalls: ["a", "b", "c"].map((id) => ({ id, name: "draw", arguments: "{}" })),
  },
  result("a", ["one"]),
  result("b", []),
  result("c", ["two", "three"]),
];
const REQUEST = { model: "acme/m", messages: MESSAGES };

const WAYS = {
  whole: (provider: ReturnType<typeof providerOf>) => provider.complete(REQUEST),
  streamed: (provider: ReturnType<typeof providerOf>) => Array.fromAsync(provider.stream(REQUEST)),
};

/** The roles of a request, and the number of its images. */
function shapeOf({ requests }: ProviderDouble): string[] {
  return requests.map(({ body }) => {
    const images = JSON.stringify(body.messages).match(/"image_url":\{/g) ?? [];
    return `${body.messages.at(-1).role} ${images.length}`;
  });
}

for (const [way, ask] of Object.entries(WAYS)) {
  const answer = way === "whole" ? completion() : sse(completionChunks());

  Deno.test(`images of tools follow the results in a user's message, ${way}`, async () => {
    await using double = await startProviderDouble(answer);
    await ask(withAdaptations(providerOf(double), [ADAPTATIONS.toolImages]));
    const { messages } = double.requests[0]!.body;
    const roles = messages.map(({ role }: { role: string }) => role);
    assertEquals(roles, ["user", "assistant", "tool", "tool", "tool", "user"]);
    assertEquals(messages.at(-1).content.slice(1), ["one", "two", "three"].map(image));
    assertEquals(messages[2], { role: "tool", tool_call_id: "a", content: "(image: image/png)" });
  });

  Deno.test(`a model that refuses images is asked without them, and gets none later, ${way}`, async () => {
    for (const status of [400, 404, 422]) {
      await using double = await startProviderDouble([errorStatus(status), answer]);
      const provider = withAdaptations(providerOf(double), [ADAPTATIONS.toolImages]);
      await ask(provider);
      await ask(provider);
      assertEquals(shapeOf(double), ["user 3", "tool 0", "tool 0"]);
    }
  });

  Deno.test(`a refusal that has another reason is reported, ${way}`, async () => {
    await using double = await startProviderDouble(errorStatus(400));
    const provider = withAdaptations(providerOf(double), [ADAPTATIONS.toolImages]);
    await assertRejects(() => ask(provider), ProviderError, "refused by the provider (400)");
    assertEquals(shapeOf(double), ["user 3", "tool 0"]);
  });

  Deno.test(`a model that refuses the request without images too gets them later, ${way}`, async () => {
    await using double = await startProviderDouble([errorStatus(400), errorStatus(400), answer]);
    const provider = withAdaptations(providerOf(double), [ADAPTATIONS.toolImages]);
    await assertRejects(() => ask(provider), ProviderError);
    await ask(provider);
    assertEquals(shapeOf(double), ["user 3", "tool 0", "user 3"]);
  });
}

Deno.test("only the latest images are sent, up to the limits of a request", async () => {
  await using double = await startProviderDouble(completion());
  const names = Array.from({ length: 20 }, (_, index) => `${index}`);
  const messages = [...MESSAGES.slice(0, 2), result("a", names)];
  await providerOf(double).complete({ model: "acme/m", messages });
  const sent = double.requests[0]!.body.messages.at(-1).content.slice(1);
  assertEquals(sent, names.slice(4).map(image));
});
