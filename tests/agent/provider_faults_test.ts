import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { agentRequestOf, agentService } from "../fakes/agent_service.ts";
import { readEvents } from "../fakes/events.ts";
import { providerOf } from "../fakes/openai_provider.ts";
import {
  type Answer,
  completion,
  completionChunks,
  type CompletionFields,
  sse,
  startProviderDouble,
} from "../fakes/provider_double.ts";

/** What providers really send, over real HTTP, with and without streaming: both must be equal. */

const BODY = { messages: [{ type: "human", content: "Hi" }] };
const sum = (expression: string, id = "same") => ({
  id,
  name: "calculator",
  arguments: JSON.stringify({ expression }),
});

interface Outcome {
  status: number;
  // deno-lint-ignore no-explicit-any
  body: any;
  /** The messages of the last request to the provider. */
  // deno-lint-ignore no-explicit-any
  sent: any[];
  calls: number;
}

async function run(answers: Answer[], accept: string): Promise<Outcome> {
  await using double = await startProviderDouble(answers);
  const { service } = agentService(providerOf(double));
  const response = await service(agentRequestOf(BODY, { headers: { accept } }));
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const events = isStream ? await Array.fromAsync(readEvents(response)) : [];
  const end = events.find(({ event }) => event === "message" || event === "error");
  const body = isStream ? end?.data : await response.json();
  return {
    status: end?.event === "error" ? body.status : response.status,
    body,
    sent: double.requests.at(-1)?.body.messages,
    calls: double.requests.length,
  };
}

/** Both ways with one script; `check` must hold for each, and the answers must be equal. */
async function bothWays(
  replies: CompletionFields[],
  check: (outcome: Outcome) => void,
): Promise<void> {
  const plain = await run(replies.map(completion), "application/json");
  const chunks = replies.map((fields) => sse(completionChunks(fields)));
  const streamed = await run(chunks, "text/event-stream");
  check(plain);
  check(streamed);
  const withoutIds = ({ id: _, ...body }: { id: string }) => body;
  if (plain.status === 200) assertEquals(withoutIds(streamed.body), withoutIds(plain.body));
}

const toolTexts = ({ sent }: Outcome) =>
  sent.filter(({ role }) => role === "tool").map(({ content }) => content);

Deno.test("a plain answer is the same with and without streaming, including its usage", async () => {
  await bothWays([{ content: "Hello there." }], ({ status, body }) => {
    assertEquals([status, body.content], [200, "Hello there."]);
    assertEquals(body.usage_metadata.total_tokens, 12);
  });
});

Deno.test("without usage from the provider the counts are zero, with and without streaming", async () => {
  await bothWays([{ usage: null }], ({ body }) => {
    assertEquals(body.usage_metadata.total_tokens, 0);
  });
});

Deno.test("results of parallel calls with repeated ids are not mixed up", async () => {
  const twice = { toolCalls: [sum("1+1"), sum("2+2")] };
  await bothWays([twice, twice, { content: "ok" }], (outcome) => {
    assertEquals(outcome.body.content, "ok");
    assertEquals(toolTexts(outcome), ["2", "4", "2", "4"]);
    const ids = outcome.sent.flatMap(({ tool_call_id }) => tool_call_id ?? []);
    assertEquals(new Set(ids).size, 4);
  });
});

Deno.test("the model is told that its arguments are not JSON, and corrects its call", async () => {
  const bad = { toolCalls: [{ ...sum("1+1"), arguments: '{"expression": ' }] };
  await bothWays([bad, { toolCalls: [sum("1+1")] }, { content: "2" }], (outcome) => {
    assertEquals(outcome.body.content, "2");
    const [first, second] = toolTexts(outcome);
    assertStringIncludes(first, "must be one JSON object");
    assertEquals(second, "2");
  });
});

Deno.test("null content is asked for once more, then the error is empty_reply", async () => {
  await bothWays([{ content: null }, { content: "Here." }], ({ body, calls }) => {
    assertEquals([body.content, calls], ["Here.", 2]);
  });
  await bothWays([{ content: null }], ({ status, body, calls }) => {
    assertEquals([status, body.code, calls], [502, "empty_reply", 2]);
  });
});

Deno.test("a tool call is assembled from its fragments", async () => {
  const [opening, ...rest] = completionChunks({ toolCalls: [sum("17*23")] });
  const base = { id: "c", object: "chat.completion.chunk", model: "m" };
  const fragments = [
    { index: 0, id: "call00000", type: "function", function: { name: "calc", arguments: "" } },
    { index: 0, function: { arguments: '{"expres' } },
    { index: 0, function: { arguments: 'sion":"17' } },
    { index: 0, function: { arguments: '*23"}' } },
  ].map((call) => ({
    ...base,
    choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }],
  }));
  fragments[0]!.choices[0]!.delta.tool_calls[0]!.function.name = "calculator";
  const stream = sse([opening, ...fragments, ...rest.slice(1)]);
  const outcome = await run(
    [stream, sse(completionChunks({ content: "391" }))],
    "text/event-stream",
  );
  assertEquals([outcome.body.content, toolTexts(outcome)], ["391", ["391"]]);
});

Deno.test("a stream that breaks off, or is empty, is a provider error", async () => {
  const half = completionChunks({ content: "One two three" }).slice(0, 3);
  for (
    const answer of [
      sse(half, { end: "close" }),
      sse(half, { end: "cut" }),
      sse([], { end: "close" }),
    ]
  ) {
    const { status, body } = await run([answer], "text/event-stream");
    assertEquals([status, body.code], [502, "provider_error"]);
  }
});

Deno.test("a stream with only [DONE] is an empty reply", async () => {
  const { status, body, calls } = await run([sse([])], "text/event-stream");
  assertEquals([status, body.code, calls], [502, "empty_reply", 2]);
});

Deno.test("a tool's result keeps the role tool", async () => {
  await bothWays([{ toolCalls: [sum("1+1")] }, { content: "2" }], ({ sent }) => {
    const holders = sent.filter(({ content }) => content === "2");
    assert(holders.length > 0 && holders.every(({ role }) => role === "tool"));
  });
});
