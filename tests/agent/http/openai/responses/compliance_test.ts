import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { readEvents } from "../../../../fakes/events.ts";
import { openAIRoutes } from "../../../../fakes/openai_routes.ts";
import { providerOf } from "../../../../fakes/openai_provider.ts";
import { json, startProviderDouble } from "../../../../fakes/provider_double.ts";
import { createScriptedProvider, type Step } from "../../../../fakes/scripted_provider.ts";

/** What Open Responses requires of a response. */
const Resource = z.object({
  id: z.string(),
  object: z.literal("response"),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  status: z.string(),
  incomplete_details: z.object({ reason: z.string() }).nullable(),
  model: z.string(),
  previous_response_id: z.string().nullable(),
  instructions: z.string().nullable(),
  output: z.array(z.discriminatedUnion("type", [
    z.object({
      type: z.literal("message"),
      id: z.string(),
      status: z.string(),
      role: z.string(),
      content: z.array(z.object({ type: z.string() })),
    }),
    z.object({
      type: z.literal("function_call"),
      id: z.string(),
      call_id: z.string(),
      name: z.string(),
      arguments: z.string(),
      status: z.string(),
    }),
  ])),
  error: z.null(),
  tools: z.array(z.object({
    type: z.literal("function"),
    name: z.string(),
    description: z.string().nullable(),
    parameters: z.record(z.string(), z.unknown()).nullable(),
    strict: z.boolean().nullable(),
  })),
  tool_choice: z.union([z.string(), z.object({ type: z.string() })]),
  truncation: z.string(),
  parallel_tool_calls: z.boolean(),
  text: z.object({ format: z.object({ type: z.string() }) }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: z.object({ effort: z.string().nullable(), summary: z.string().nullable() }).nullable(),
  usage: z.object({
    input_tokens: z.int(),
    output_tokens: z.int(),
    total_tokens: z.int(),
    input_tokens_details: z.object({ cached_tokens: z.int() }),
    output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  }).nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
});

const say = (role: string, content: unknown) => ({ type: "message", role, content });
const parameters = { type: "object", properties: { place: { type: "string" } } };
const WEATHER = { type: "function", name: "weather", description: "Tells it.", parameters };
const CALL: Step = { toolCalls: [{ id: "c", name: "weather", arguments: '{"place":"Rome"}' }] };
const IMAGE = "data:image/png;base64,AA==";

/** Open Responses' cases by their names: the request, what the model does, what it must be sent. */
const CASES: [name: string, body: Record<string, unknown>, step: Step, sent: unknown[]][] = [
  ["basic", { input: [say("user", "Hi")] }, {}, ["Hi"]],
  ["streaming", { input: [say("user", "Count.")], stream: true }, { content: "1 2" }, ["Count."]],
  ["system", { input: [say("system", "Pirate."), say("user", "Hi")] }, {}, ["Pirate.", "Hi"]],
  ["tools", { input: [say("user", "Rome?")], tools: [WEATHER] }, CALL, ["Rome?"]],
  ["tools, streaming", { input: "Rome?", tools: [WEATHER], stream: true }, CALL, ["Rome?"]],
  [
    "image",
    {
      input: [say("user", [
        { type: "input_text", text: "What?" },
        { type: "input_image", image_url: IMAGE },
      ])],
    },
    {},
    [[{ type: "text", text: "What?" }, { type: "image_url", image_url: { url: IMAGE } }]],
  ],
  [
    "multi-turn",
    { input: [say("user", "I am Ada."), say("assistant", "Hello Ada."), say("user", "Who?")] },
    {},
    ["I am Ada.", "Hello Ada.", "Who?"],
  ],
];

for (const [name, body, step, sent] of CASES) {
  Deno.test(`Open Responses: ${name}`, async () => {
    const provider = createScriptedProvider(step);
    const response = await openAIRoutes(provider).post("responses", body);
    assertEquals(response.status, 200);
    const events = body.stream ? await Array.fromAsync(readEvents(response)) : [];
    const given = body.stream ? events.at(-1)!.data.response : await response.json();
    const resource = Resource.parse(given);
    assertEquals(resource.status, "completed");
    const type = step === CALL ? "function_call" : "message";
    assert(resource.output.some((item) => item.type === type), JSON.stringify(resource.output));
    const contents = provider.requests[0]!.messages.map(({ content }) => content);
    assertEquals(contents.slice(-sent.length), sent);
    if (!body.stream) return;
    const names = new Set(events.map(({ event }) => event));
    const text = ["output_text.delta", "output_text.done"];
    const call = ["function_call_arguments.delta", "function_call_arguments.done"];
    for (const part of ["output_item.added", "output_item.done", ...step === CALL ? call : text]) {
      assert(names.has(`response.${part}`), part);
    }
  });
}

Deno.test("the phase of a message is shown, and its provider gets it back", async () => {
  const message = { role: "assistant", content: "Hello!", phase: "final_answer" };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  await using double = await startProviderDouble(json({ id: "1", model: "a/b", choices }));
  const { post } = openAIRoutes(providerOf(double));
  const { output } = await (await post("responses", { input: "Hi" })).json();
  assertEquals(output[0].phase, "final_answer");
  await post("responses", { input: [say("user", "Hi"), ...output, say("user", "Ho")] });
  const { messages } = double.requests.at(-1)!.body;
  const sent = messages.find(({ role }: { role: string }) => role === "assistant");
  assertEquals([sent.content, sent.phase], ["Hello!", "final_answer"]);
});
