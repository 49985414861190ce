import { assertEquals } from "@std/assert";
import { holdAsides } from "../../../agent/openai/source.ts";

Deno.test("each turn is judged by its own text: JSON goes out as it comes, asides never", async () => {
  const passed: string[] = [];
  const { emit, end } = holdAsides((event) => {
    if (event.type === "token") passed.push(event.text);
  });
  const say = (text: string) => emit({ type: "token", text });
  const callTool = () => emit({ type: "tool_call", id: "c1", name: "f", args: {} });
  await say("Let me see.");
  await callTool();
  await say('{"sum":');
  assertEquals(passed, ['{"sum":']);
  await callTool();
  await say("Once more.");
  await callTool();
  await say("four");
  assertEquals(passed, ['{"sum":']);
  await end();
  assertEquals(passed, ['{"sum":', "four"]);
});
