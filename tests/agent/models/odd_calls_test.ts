import { assertEquals } from "@std/assert";
import { providerOf, REQUEST, streamed } from "../../fakes/openai_provider.ts";
import { completionBody, json, startProviderDouble } from "../../fakes/provider_double.ts";

const CALL = { id: "aaaaaaaaa", name: "look_up", arguments: '{"city":"Oslo"}' };

/** A piece of the call, with what is left out of it set to `undefined`. */
function piece(text: string, more: { index?: number; id?: string; name?: string } = {}) {
  const { index = 0, id, name } = more;
  return { index, id, function: { name, arguments: text } };
}

const { id, name } = CALL;
const FIRST = piece('{"city":', { id, name });
const REST = piece('"Oslo"}');

/** How servers send a call a second time. */
const REPEATED: Record<string, unknown[]> = {
  "whole, after its pieces": [FIRST, REST, piece(CALL.arguments, { id, name })],
  "whole, twice": [piece(CALL.arguments, { id, name }), piece(CALL.arguments, { id, name })],
  "without its id and name": [FIRST, REST, piece(CALL.arguments)],
  "with other blanks": [FIRST, REST, piece('{ "city": "Oslo" }\n', { id, name })],
  "at another index": [FIRST, REST, piece(CALL.arguments, { index: 1, id, name })],
};
for (const [how, pieces] of Object.entries(REPEATED)) {
  Deno.test(`a tool call that a stream repeats ${how}, is made once`, async () => {
    const { reply, deltas } = await streamed([
      ...pieces.map((piece) => ({ choices: [{ delta: { tool_calls: [piece] } }] })),
      { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
    ]);
    assertEquals(reply.toolCalls, [CALL]);
    const texts = deltas.map((delta) => delta.type === "call" ? delta.arguments : "");
    assertEquals(texts.join(""), CALL.arguments);
  });
}

Deno.test("a function_call, as servers of 2023 answer, is a tool call, streamed or not", async () => {
  const { reply } = await streamed([
    { choices: [{ delta: { content: null, function_call: { name, arguments: "" } } }] },
    { choices: [{ delta: { function_call: { arguments: '{"city":' } } }] },
    { choices: [{ delta: { function_call: { arguments: '"Oslo"}' } } }] },
    { choices: [{ delta: {}, finish_reason: "function_call" }] },
  ]);
  const body = completionBody({});
  const message = { role: "assistant", function_call: { name, arguments: CALL.arguments } };
  await using double = await startProviderDouble(json({ ...body, choices: [{ message }] }));
  const whole = await providerOf(double).complete(REQUEST);
  for (const { toolCalls, extra } of [reply, whole]) {
    assertEquals(toolCalls.map(({ id: _, ...call }) => call), [{
      name,
      arguments: CALL.arguments,
    }]);
    assertEquals(extra, undefined);
  }
});
