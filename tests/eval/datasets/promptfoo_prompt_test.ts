import { assertEquals } from "@std/assert";
import { read, refuse, turns } from "./imported.ts";

/** A configuration with one prompt and one test, as JSON. */
const configure = (prompt: string, vars: Record<string, unknown>) =>
  JSON.stringify({ prompts: [prompt], tests: [{ vars }] });

Deno.test("a chat prompt of promptfoo keeps its messages whatever its variables hold", async () => {
  const chat = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hello" },
    { role: "user", content: "{{question}}" },
  ];
  const yaml = "- role: user\n  content: Hi\n- role: assistant\n  content: Hello\n" +
    '- role: user\n  content: "{{question}}"\n';
  for (const question of ['What is "foo"?', "two\nlines", "C:\\temp", "a: b # c"]) {
    for (const prompt of [JSON.stringify(chat), JSON.stringify(chat, null, 2), yaml]) {
      const found = await read(configure(prompt, { question }));
      assertEquals(turns(found), [[[question, undefined]]], prompt);
      assertEquals(found.scenarios[0]!.prior_messages, chat.slice(0, 2));
      assertEquals(found.leftOut, []);
    }
  }
});

Deno.test("a chat prompt of promptfoo may become one by its variables", async () => {
  for (
    const prompt of [
      '[{"role": "user", "content": {{text}}}]',
      "- role: user\n  content: {{text}}\n",
    ]
  ) {
    assertEquals(turns(await read(configure(prompt, { text: '"Hi"' }))), [[["Hi", undefined]]]);
  }
  const messages = [{ role: "user", content: 'Say "Hi"' }];
  for (const value of [messages, JSON.stringify(messages)]) {
    const found = await read(configure("{{messages}}", { messages: [value] }));
    assertEquals(turns(found), [[['Say "Hi"', undefined]]]);
  }
  for (const prompt of ["[INST] {{text}} [/INST]", "- roles: {{text}}", "- role: [{{text}}"]) {
    const [turn] = turns(await read(configure(prompt, { text: "Hi" })));
    assertEquals(turn, [[prompt.replace("{{text}}", "Hi"), undefined]]);
  }
});

Deno.test("variables of promptfoo may contain others that contain others", async () => {
  const vars = { whole: "{{ start }}!", start: "Good {{ time }}", time: "morning\n" };
  const found = await read(configure("{{whole}}", vars));
  assertEquals(turns(found), [[["Good morning!", undefined]]]);
  assertEquals(found.leftOut, []);
});

Deno.test("variables of promptfoo that make an endless text are refused with their line", async () => {
  const { message } = await refuse(configure("{{a}}", { a: "{{a}}".repeat(50) }));
  assertEquals(message, "line 1: its variables make a text of over 16000000 characters");
});

Deno.test("JSON of promptfoo is recognised whatever stands first in it", async () => {
  const vars = { question: "Hi" };
  const $schema = "https://promptfoo.dev/config-schema.json";
  for (
    const content of [
      { $schema, description: "d", prompts: ["{{question}}"], tests: [{ vars }] },
      { description: "d", providers: ["openai:gpt-4o"], tests: [{ description: "t", vars }] },
      [{ description: "t", vars }],
    ]
  ) {
    const found = await read(JSON.stringify(content, null, 2));
    assertEquals([found.format, turns(found)], ["promptfoo", [[["Hi", undefined]]]]);
  }
  const ours = { id: "a", tests: 1, interactions: [{ id: "1", user_message: "Hi" }] };
  for (const content of [ours, [ours], { tests: 1, test_batch: [ours] }]) {
    assertEquals((await read(JSON.stringify(content, null, 2))).format, "json");
  }
});
