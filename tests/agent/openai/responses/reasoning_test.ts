import { assertEquals } from "@std/assert";
import { agentService } from "../../../fakes/agent_service.ts";
import { readEvents } from "../../../fakes/events.ts";
import { providerOf } from "../../../fakes/openai_provider.ts";
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
  const { service } = agentService(providerOf(double));
  const ask = async (body: Record<string, unknown>) =>
    await service(
      new Request("http://127.0.0.1:8000/v1/responses", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "acme/m", input: "Hi", ...body }),
      }),
    );
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
  const { service } = agentService(providerOf(double));
  const response = await service(
    new Request("http://127.0.0.1:8000/v1/responses", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "mistral/m", input: "Hi" }),
    }),
  );
  const { output } = await response.json();
  assertEquals(output.map(({ type }: { type: string }) => type), ["reasoning", "message"]);
  assertEquals(output[0].summary, [{ type: "summary_text", text: "It is a greeting." }]);
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
