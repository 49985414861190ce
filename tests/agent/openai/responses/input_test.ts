import { assertEquals } from "@std/assert";
import { toMessages } from "../../../../agent/openai/responses/input.ts";
import type { InputItem } from "../../../../agent/schemas/responses.ts";

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
