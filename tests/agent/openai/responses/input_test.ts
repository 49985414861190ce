import { assert, assertEquals } from "@std/assert";
import { toMessages } from "../../../../agent/openai/responses/input.ts";
import type { InputItem } from "../../../../shared/schemas/responses.ts";

const callOf = (id: string): InputItem => (
  { type: "function_call", call_id: id, name: "f", arguments: "{}" }
);
const outputOf = (id: string): InputItem => (
  { type: "function_call_output", call_id: id, output: "fine" }
);

Deno.test("calls that follow each other are one message, in their order", () => {
  const items = [callOf("1"), callOf("2"), outputOf("1"), outputOf("2"), callOf("3")];
  const messages = toMessages(items, () => undefined);
  assertEquals(messages.map(({ role }) => role), ["assistant", "tool", "tool", "assistant"]);
  const ids = messages.map(({ tool_calls }) =>
    (tool_calls as { id: string }[])?.map(({ id }) => id)
  );
  assertEquals(ids, [["1", "2"], undefined, undefined, ["3"]]);
});

Deno.test("thousands of calls in one turn are read about as fast as in turns of their own", () => {
  const ids = Array.from({ length: 20_000 }, (_, index) => String(index));
  const msOf = (items: InputItem[]) => {
    const start = performance.now();
    toMessages(items, () => undefined);
    return performance.now() - start;
  };
  const apart = ids.flatMap((id) => [callOf(id), outputOf(id)]);
  const usual = Math.max(msOf(apart), msOf(apart));
  const together = msOf([...ids.map(callOf), ...ids.map(outputOf)]);
  assert(together < 10 * usual, `${together} ms, and ${usual} ms in turns of their own`);
});
