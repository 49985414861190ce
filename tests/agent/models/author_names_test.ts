import { assertEquals } from "@std/assert";
import { hubOf } from "../../fakes/openai_provider.ts";
import { openAIRoutes } from "../../fakes/openai_routes.ts";
import { type Answer, completion, json, startProviderDouble } from "../../fakes/provider_double.ts";

type Message = { role: string; content: string; name?: string };

/** Refuses the names of authors, in Mistral's words. */
const mistral: Answer = (request) => {
  const index = request.body.messages.findIndex((message: Message) => message.name !== undefined);
  if (index < 0) return completion()(request);
  const loc = ["body", "messages", index, "user", "name"];
  const detail = [{ type: "extra_forbidden", loc, msg: "Extra inputs are not permitted" }];
  return json({ object: "error", message: { detail } }, { status: 422 })(request);
};

Deno.test("a model that refuses the names of authors gets them in the text from then on", async () => {
  await using double = await startProviderDouble(mistral);
  const { post } = openAIRoutes(hubOf(double));
  for (let call = 0; call < 2; call++) {
    const messages = [{ role: "user", name: "bob", content: "Hello" }];
    const response = await post("chat/completions", { messages });
    assertEquals(response.status, 200);
    await response.body?.cancel();
  }
  const sent = double.requests.map(({ body }) => body.messages.at(-1));
  const named = { role: "user", content: "bob: Hello" };
  assertEquals(sent, [{ role: "user", name: "bob", content: "Hello" }, named, named]);
});
