import { textOf } from "../../../shared/providers/content.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { z } from "zod";
import { createCallerTools } from "../../../agent/run/caller_tools.ts";
import { ToolError } from "../../../agent/tools/tool.ts";
import type { ToolCall } from "../../../shared/providers/provider.ts";
import { createScriptedProvider, never } from "../../fakes/scripted_provider.ts";
import { call, calls, echo, run, tool, toolMessages } from "../../fakes/scripted_run.ts";

Deno.test("calls of one turn run in parallel and are answered in their order", async () => {
  const both = Promise.withResolvers<void>();
  let running = 0;
  const meet = (name: string) =>
    tool(name, async () => {
      if (++running === 2) both.resolve();
      await both.promise;
      return name;
    });
  const provider = createScriptedProvider(
    calls(call({ id: "x", name: "one" }), call({ id: "y", name: "two" })),
    {},
  );
  await run(provider, { tools: [meet("one"), meet("two")] });
  assertEquals(toolMessages(provider), ["one", "two"]);
});

Deno.test("the answer to a call that cannot be run tells the model how to correct it", async () => {
  const secret = () => {
    throw new Error("secret of the inside");
  };
  const mendable = () => {
    throw new ToolError("no such city; try Paris");
  };
  const cases: [Partial<ToolCall>, string][] = [
    [{ arguments: '{"text":' }, '{"text":'],
    [{ arguments: '["a"]' }, "JSON object"],
    [{ arguments: '{"text":5}' }, "text"],
    [{ arguments: "{}" }, "text"],
    [{ name: "nope" }, "echo, fails, mendable"],
    [{ name: "mendable", arguments: "" }, "no such city; try Paris"],
    [{ name: "fails", arguments: "{}" }, "fails failed"],
  ];
  for (const [fields, expected] of cases) {
    const provider = createScriptedProvider(calls(call(fields)), { content: "mended" });
    const result = await run(provider, {
      tools: [echo, tool("fails", secret), tool("mendable", mendable)],
    });
    assertEquals(result.reply.content, "mended");
    const [told = ""] = toolMessages(provider);
    assertStringIncludes(told, expected);
    assert(!told.includes("secret"), "an error of the inside must not reach the model");
  }
});

Deno.test("null stands for no arguments, and for an argument that may be left out", async () => {
  const schema = z.object({ text: z.string().default("nothing"), more: z.string().optional() });
  const lenient = { ...echo, schema };
  for (const given of ["null", '{"text":null,"more":null}', '{"text":"nothing","more":null}']) {
    const provider = createScriptedProvider(calls(call({ arguments: given })), {});
    await run(provider, { tools: [lenient] });
    assertEquals(toolMessages(provider), ["echo: nothing"]);
    const sent = provider.requests[1]?.messages[1];
    assertEquals(
      sent?.role === "assistant" && sent.toolCalls?.[0]?.arguments,
      given === "null" ? "{}" : given,
    );
  }
  const strict = createScriptedProvider(calls(call({ arguments: '{"text":null}' })), {});
  await run(strict);
  assertStringIncludes(toolMessages(strict)[0]!, "expected string, received null");
});

Deno.test("arguments that are not JSON are not sent back in the history, which providers parse", async () => {
  const provider = createScriptedProvider(calls(call({ name: "bad name", arguments: "{" })), {});
  await run(provider);
  const assistant = provider.requests[1]?.messages[1];
  assertEquals(assistant, {
    role: "assistant",
    content: "",
    toolCalls: [{ id: "c1", name: "bad_name", arguments: "{}" }],
  });
});

Deno.test("empty and repeated call ids are replaced", async () => {
  const provider = createScriptedProvider(
    calls(call({ id: "" }), call({ id: "same" })),
    calls(call({ id: "same" }), call({ id: "call00001" })),
    {},
  );
  await run(provider);
  const { messages } = provider.requests[2]!;
  const asked = messages.flatMap((m) => m.role === "assistant" ? m.toolCalls ?? [] : []);
  const answered = messages.flatMap((m) => m.role === "tool" ? [m.toolCallId] : []);
  assertEquals(asked.map(({ id }) => id), answered);
  assertEquals(answered, ["call00001", "same", "call00002", "call00003"]);
});

Deno.test("the same call is not run a third time, and the model is told so", async () => {
  let served = 0;
  const count = tool("count", () => `${++served}`);
  const same = (id: string, args = "{}") => call({ id, name: "count", arguments: args });
  const provider = createScriptedProvider(
    calls(same("a")),
    calls(same("b", " { } ")),
    calls(same("c"), call({ id: "d" })),
    { content: "done" },
  );
  await run(provider, { tools: [count, echo] });
  const [first, second, third, other] = toolMessages(provider);
  assertEquals([served, first, second, other], [2, "1", "2", "echo: a"]);
  assertStringIncludes(third ?? "", "already called 2 times with these arguments");
});

Deno.test("calls that could not be run do not count as repetitions of a correct one", async () => {
  const cases: [name: string, args: string][] = [
    ["count", "not JSON"],
    ["count", "[]"],
    ["count", JSON.stringify({ long: "x".repeat(50) })],
    ["co unt", "{}"],
  ];
  for (const [name, args] of cases) {
    let served = 0;
    const wrong = (id: string) => call({ id, name, arguments: args });
    const provider = createScriptedProvider(
      calls(wrong("a")),
      calls(wrong("b")),
      calls(call({ id: "c", name: name.replace(" ", "_"), arguments: "{}" })),
      {},
    );
    await run(provider, {
      tools: [tool("count", () => `${++served}`), tool("co_unt", () => `${++served}`)],
      settings: { maxSteps: 4, toolLimits: { maxArgumentCharacters: 20 } },
    });
    assertEquals([served, toolMessages(provider).at(-1)], [1, "1"], `${name} ${args}`);
  }
});

Deno.test("of three equal calls in one turn the third is not run; calls in the caller's history do not count", async () => {
  let served = 0;
  const count = tool("count", () => `${++served}`);
  const same = (id: string) => call({ id, name: "count", arguments: "{}" });
  const provider = createScriptedProvider(calls(same("a"), same("b"), same("c")), {});
  await run(provider, {
    tools: [count],
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "", toolCalls: [same("x")] },
      { role: "tool", toolCallId: "x", content: "0" },
    ],
  });
  assertEquals(served, 2);
});

Deno.test("one limit holds for all calls of a turn, those of the caller's tools included", async () => {
  const seen: unknown[] = [];
  const own = tool("own", (args) => (seen.push(args), "done"));
  const theirs = { name: "theirs", description: "", parameters: {} };
  const provider = createScriptedProvider(calls(
    call({ id: "c1", name: "theirs", arguments: '{"long":"argument"}' }),
    call({ id: "c2", name: "own", arguments: '{"a":1}' }),
  ));
  const { pending, toolCalls } = await run(provider, {
    tools: [own],
    callerTools: createCallerTools([theirs]),
    settings: { maxSteps: 3, toolLimits: { maxArgumentCharacters: 20 } },
  });
  const [turn, result] = pending!.added;
  assertEquals(turn?.role === "assistant" && turn.toolCalls?.[1]?.arguments, "{}");
  assertStringIncludes(textOf(result!.content), "the arguments are too long");
  assertEquals([seen, toolCalls], [[], 0]);
});

Deno.test("a tool that takes too long is stopped, and the model is told so", async () => {
  const ended = Promise.withResolvers<void>();
  const slow = tool("slow", (_, { signal }) => {
    signal?.addEventListener("abort", () => ended.resolve());
    return never();
  });
  const provider = createScriptedProvider(calls(call({ name: "slow", arguments: "{}" })), {});
  const toolLimits = { timeoutMs: 5 };
  await run(provider, { tools: [slow], settings: { maxSteps: 3, toolLimits } });
  await ended.promise;
  assertStringIncludes(toolMessages(provider)[0] ?? "", "slow took longer than 0.005 s");
});

Deno.test("a long result is cut with a note, never inside a character", async () => {
  const long = tool("long", () => "abcd😀efgh");
  const provider = createScriptedProvider(calls(call({ name: "long", arguments: "{}" })), {});
  const toolLimits = { maxCharacters: 5 };
  await run(provider, { tools: [long], settings: { maxSteps: 3, toolLimits } });
  const [told = ""] = toolMessages(provider);
  assert(told.startsWith("abcd\n\n(Cut here: the result has 10 characters"), told);
});
