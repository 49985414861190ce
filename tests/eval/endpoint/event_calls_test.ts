import { assertEquals } from "@std/assert";
import { startCallClock } from "../../../shared/providers/call_clock.ts";
import { readAnyReply } from "../../../shared/providers/openai_stream.ts";

/** The tool calls of an answer whose body this is. */
async function readCalls(text: string) {
  const response = new Response(text, { headers: { "content-type": "text/event-stream" } });
  const clock = startCallClock(10_000);
  const { toolCalls } = await readAnyReply(response, { model: "m", clock }).finally(clock.stop);
  return toolCalls.map(({ name, arguments: args }) => [name, args]);
}

/** The tool calls of an answer that came as events, each as its name and its arguments. */
async function callsOf(pieces: Record<string, unknown>[]): Promise<unknown[]> {
  const deltas = [...pieces.map((piece) => ({ tool_calls: [piece] })), {}];
  const events = deltas.map((delta, at) => ({
    choices: [{ delta, finish_reason: at === pieces.length ? "tool_calls" : null }],
  }));
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return await readCalls(text);
}

const WEATHER = { name: "get_weather", arguments: '{"city":"Oslo"}' };
const TIME = { name: "get_time", arguments: "{}" };
const EXPECTED = [["get_weather", '{"city":"Oslo"}'], ["get_time", "{}"]];

Deno.test("tool calls of an answer in events stay apart if all have the index 0", async () => {
  const named = [
    { index: 0, id: "a", function: WEATHER },
    { index: 0, id: "b", function: TIME },
  ];
  assertEquals(await callsOf(named), EXPECTED);
  const nameless = named.map(({ id: _, ...piece }) => piece);
  assertEquals(await callsOf(nameless), EXPECTED);
});

Deno.test("pieces without an index continue the call before them", async () => {
  const pieces = [
    { id: "a", function: { name: "get_weather", arguments: '{"city":' } },
    { function: { arguments: '"Oslo"}' } },
    { id: "b", function: TIME },
  ];
  assertEquals(await callsOf(pieces), EXPECTED);
});

Deno.test("a name that comes with every piece is the call's name once", async () => {
  const pieces = ['{"city":', '"Oslo"}'].map((text) => ({
    index: 0,
    id: "a",
    function: { name: "get_weather", arguments: text },
  }));
  assertEquals(await callsOf([...pieces, { index: 1, id: "b", function: TIME }]), EXPECTED);
});

Deno.test("a function_call in events, as servers of 2023 answer, is a tool call, and blank events are none", async () => {
  const deltas = [
    { function_call: { name: "get_weather", arguments: '{"city":' } },
    { function_call: { arguments: '"Oslo"}' } },
  ];
  const events = [...deltas.map((delta) => ({ choices: [{ delta }] })), {
    choices: [{ delta: {}, finish_reason: "function_call" }],
  }];
  const text = events.map((event) => `data:\n\ndata: ${JSON.stringify(event)}\n\n`).join("");
  assertEquals(await readCalls(text), EXPECTED.slice(0, 1));
});
