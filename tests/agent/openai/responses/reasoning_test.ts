import { assertEquals } from "@std/assert";
import { createResponseOutput } from "../../../../agent/openai/responses/output.ts";
import { readEvents } from "../../../fakes/events.ts";
import { providerOf } from "../../../fakes/openai_provider.ts";
import { openAIRoutes } from "../../../fakes/openai_routes.ts";
import { json, sse, startProviderDouble } from "../../../fakes/provider_double.ts";

const DETAILS = [{ type: "reasoning.encrypted", data: "xyz" }];
const FIELDS = { reasoning_content: "It is a greeting.", reasoning_details: DETAILS };

/** A model that thinks, and whose provider wants its fields back. */
async function serve() {
  const message = { role: "assistant", content: "Hello!", ...FIELDS };
  const delta = (fields: unknown, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta: fields, finish_reason }],
  });
  const double = await startProviderDouble((request) => {
    if (!request.body.stream) {
      return json({ choices: [{ index: 0, message, finish_reason: "stop" }] })(request);
    }
    return sse([
      delta({ reasoning_content: "It is " }),
      delta({ reasoning_content: "a greeting.", reasoning_details: DETAILS }),
      delta({ content: "Hello!" }),
      delta({}, "stop"),
    ])(request);
  });
  const { post } = openAIRoutes(providerOf(double));
  const ask = (body: Record<string, unknown>) =>
    post("responses", { model: "acme/m", input: "Hi", ...body });
  /** The output of a response, streamed or not. */
  async function outputOf(body: Record<string, unknown>) {
    const response = await ask(body);
    if (!body.stream) return (await response.json()).output;
    const events = await Array.fromAsync(readEvents(response));
    return events.at(-1)!.data.response.output;
  }
  return { double, ask, outputOf, [Symbol.asyncDispose]: () => double[Symbol.asyncDispose]() };
}

Deno.test("what a model thinks is the summary of a reasoning item, before its message", async () => {
  await using service = await serve();
  for (const stream of [false, true]) {
    const [reasoning, message] = await service.outputOf({ stream });
    const { id: _, ...shown } = reasoning;
    const summary = [{ type: "summary_text", text: FIELDS.reasoning_content }];
    assertEquals(shown, { type: "reasoning", summary });
    assertEquals(message.content[0].text, "Hello!");
  }
  const events = await Array.fromAsync(readEvents(await service.ask({ stream: true })));
  const kinds = events.map(({ event }) => event).filter((event) => event.includes("reasoning"));
  assertEquals(kinds, [
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done",
    "response.reasoning_summary_part.done",
  ]);
});

Deno.test("thoughts that come as parts of the content are reasoning too", async () => {
  const thinking = [{ type: "text", text: "It is a greeting." }];
  const content = [{ type: "thinking", thinking }, { type: "text", text: "Hello!" }];
  await using double = await startProviderDouble(
    json({
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    }),
  );
  const { post } = openAIRoutes(providerOf(double));
  const response = await post("responses", { model: "mistral/m", input: "Hi" });
  const { output } = await response.json();
  assertEquals(output.map(({ type }: { type: string }) => type), ["reasoning", "message"]);
  assertEquals(output[0].summary, [{ type: "summary_text", text: "It is a greeting." }]);
});

Deno.test("sealed reasoning is done before that of the next turn begins", async () => {
  const seen: unknown[] = [];
  const output = createResponseOutput({
    sealsReasoning: true,
    send({ type, output_index }) {
      if (/output_item/.test(type)) seen.push(`${output_index} ${type.split(".").at(-1)}`);
    },
  });
  await output.addReasoning("I should look it up.");
  await output.endText(); // the agent calls a tool of its own
  await output.addReasoning("That is all.");
  await output.endTurn();
  assertEquals(seen, ["0 added", "0 done", "1 added", "1 done"]);
});

Deno.test("the provider gets its fields back, by the item itself or by its id", async () => {
  await using service = await serve();
  const include = ["reasoning.encrypted_content"];
  for (const stream of [false, true]) {
    const sealed = await service.outputOf({ stream, include });
    const kept = await service.outputOf({ stream });
    const references = kept.map(({ id }: { id: string }) => ({ type: "item_reference", id }));
    for (const items of [sealed, references]) {
      const input = [{ role: "user", content: "Hi" }, ...items, { role: "user", content: "Ho" }];
      await service.ask({ input });
      const { messages } = service.double.requests.at(-1)!.body;
      const { role: _, ...sent } = messages.find(({ role }: { role: string }) =>
        role === "assistant"
      );
      assertEquals(sent, { content: "Hello!", ...FIELDS });
    }
  }
});

/** A call as Gemini sends it, with the signature that it wants back. */
const CALL = {
  id: "c1",
  type: "function",
  function: { name: "f", arguments: '{"x":1}' },
  extra_content: { google: { thought_signature: "sig" } },
};

Deno.test("a plain call keeps the fields of its provider, by the item itself or by its id", async () => {
  const choice = (fields: unknown) => ({ choices: [{ index: 0, ...fields as object }] });
  const finish_reason = "tool_calls";
  await using double = await startProviderDouble((request) => {
    const message = { role: "assistant", content: null, tool_calls: [CALL] };
    if (!request.body.stream) return json(choice({ message, finish_reason }))(request);
    const delta = { tool_calls: [{ ...CALL, index: 0 }] };
    return sse([choice({ delta }), choice({ delta: {}, finish_reason })])(request);
  });
  const { post } = openAIRoutes(providerOf(double));
  const asked = { role: "user", content: "Hi" };
  const send = (items: unknown[], { model = "google/m", stream = false } = {}) =>
    post("responses", { model: `${model}:plain`, input: [asked, ...items], stream });

  for (const stream of [false, true]) {
    const response = await send([], { stream });
    const body = stream
      ? (await Array.fromAsync(readEvents(response))).at(-1)!.data.response
      : await response.json();
    const [item] = body.output;
    const { extra_content, from_model, ...known } = item;
    assertEquals([extra_content, from_model], [CALL.extra_content, "google/m"]);
    const result = { type: "function_call_output", call_id: "c1", output: "1" };
    const sentBack = async (call: unknown, model = "google/m") => {
      await send([call, result], { model });
      return double.requests.at(-1)!.body.messages[1].tool_calls[0];
    };
    assertEquals(await sentBack(item), CALL);
    assertEquals(await sentBack(known), CALL); // the client dropped what it does not know
    assertEquals(await sentBack({ type: "item_reference", id: item.id }), CALL);
    const { extra_content: _, ...bare } = CALL;
    assertEquals(await sentBack({ ...known, id: null }), bare);
    assertEquals(await sentBack(item, "openai/m"), bare);
  }
});
