import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { z } from "zod";
import type { AgentEvent } from "../../../../agent/core/agent_message.ts";
import { runAgent } from "../../../../agent/core/run/graph.ts";
import { createRecent } from "../../../../agent/core/run/recent.ts";
import { createToolbox, type Tool, ToolError } from "../../../../agent/core/tools/tool.ts";
import { AppError, isAbort } from "../../../../shared/service/errors.ts";
import { textOf } from "../../../../shared/providers/content.ts";
import { ProviderError, type ToolCall } from "../../../../shared/providers/provider.ts";
import {
  createScriptedProvider,
  never,
  type ScriptedProvider,
  type Step,
} from "../../../fakes/scripted_provider.ts";
import { call, calls, echo, run, tool, toolMessages } from "../../../fakes/scripted_run.ts";

Deno.test("a model that calls no tool is asked once, and its answer is the result", async () => {
  const provider = createScriptedProvider({ content: "Hello" });
  const result = await run(provider, { settings: { maxSteps: 3, temperature: 0, maxTokens: 9 } });
  assertEquals(result.reply.content, "Hello");
  assertEquals([result.modelCalls, result.toolCalls, result.stoppedBy], [1, 0, undefined]);
  assertEquals(provider.requests, [{
    model: "a/b",
    messages: [{ role: "user", content: "Hi" }],
    tools: createToolbox([echo]).definitions,
    mayOmitTools: true,
    temperature: 0,
    maxTokens: 9,
  }]);
});

Deno.test("unset settings and an empty list of tools are not sent", async () => {
  const provider = createScriptedProvider({});
  await run(provider, { tools: [] });
  assertEquals(Object.keys(provider.requests[0]!), ["model", "messages"]);
});

Deno.test("a tool's result goes back to the model, which then answers", async () => {
  const provider = createScriptedProvider(calls(call()), { content: "It said a." });
  const result = await run(provider);
  assertEquals(result.reply.content, "It said a.");
  assertEquals(provider.requests[1]?.messages, [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "", toolCalls: [call()] },
    { role: "tool", toolCallId: "c1", content: "echo: a" },
  ]);
  assertEquals([result.modelCalls, result.toolCalls], [2, 1]);
});

Deno.test("token counts add up over the whole run", async () => {
  const usage = {
    promptTokens: 10,
    completionTokens: 2,
    totalTokens: 12,
    promptDetails: null,
    completionDetails: null,
  };
  const provider = createScriptedProvider({ toolCalls: [call()], usage }, { usage });
  const { inputTokens, outputTokens } = await run(provider);
  assertEquals([inputTokens, outputTokens], [20, 4]);
});

Deno.test("at the step limit the tools still run, and then the model is asked without tools", async () => {
  for (const maxSteps of [1, 2, 12]) {
    const provider = createScriptedProvider(async ({ tools }) =>
      await (tools ? calls(call()) : { content: "My best answer." }) as object
    );
    const result = await run(provider, { maxSteps });
    assertEquals(result.reply.content, "My best answer.");
    assertEquals(result.stoppedBy, "max_steps");
    assertEquals([result.modelCalls, result.toolCalls], [maxSteps + 1, maxSteps]);
    assertEquals(provider.requests.filter(({ tools }) => !tools).length, 1);
    assertEquals(toolMessages(provider).length, maxSteps);
  }
});

Deno.test("a model that calls a tool instead of its last answer is told that it has none, and answers", async () => {
  for (const emit of [undefined, () => {}]) {
    const provider = createScriptedProvider(calls(call()), calls(call()), { content: "Best." });
    const result = await run(provider, { maxSteps: 1, ...(emit && { emit }) });
    assertEquals([result.reply.content, result.stoppedBy], ["Best.", "max_steps"]);
    assertEquals([result.modelCalls, result.toolCalls], [3, 1]);
    assertEquals(provider.requests.map(({ tools }) => Boolean(tools)), [true, false, false]);
    assertMatch(toolMessages(provider).at(-1)!, /^Error: no tool can be called any more/);
  }
});

Deno.test("a model that calls tools although it has none, again and again, ends the run", async () => {
  const provider = createScriptedProvider(calls(call()));
  const result = await run(provider, { maxSteps: 2 });
  assertEquals([result.modelCalls, result.toolCalls, result.stoppedBy], [4, 2, "max_steps"]);
  assertEquals(result.reply.toolCalls.length, 1);
});

Deno.test("a last answer with text is the answer, also if it calls a tool", async () => {
  const both = { ...calls(call()), content: "Best so far." };
  const result = await run(createScriptedProvider(calls(call()), both), { maxSteps: 1 });
  assertEquals([result.reply.content, result.modelCalls], ["Best so far.", 2]);
});

Deno.test("a run that finishes exactly at the limit was not stopped by it", async () => {
  const provider = createScriptedProvider(calls(call()), { content: "done" });
  const result = await run(provider, { maxSteps: 2 });
  assertEquals([result.modelCalls, result.stoppedBy], [2, undefined]);
});

Deno.test("an empty answer is asked for once more, and counted", async () => {
  for (const nothing of [null, "", " \n"]) {
    const provider = createScriptedProvider({ content: nothing }, { content: "Here." });
    const result = await run(provider, { maxSteps: 1 });
    assertEquals([result.reply.content, result.modelCalls], ["Here.", 2]);
    assertEquals(result.stoppedBy, undefined);
    assertEquals(provider.requests[1], provider.requests[0]);
  }
});

Deno.test("two empty answers are a 502 empty_reply", async () => {
  const provider = createScriptedProvider({ content: null });
  for (const emit of [undefined, () => {}]) {
    const error = await assertRejects(() => run(provider, emit ? { emit } : {}), AppError);
    assertEquals([error.status, error.code], [502, "empty_reply"]);
  }
  assertEquals(provider.requests.length, 4);
});

Deno.test("a refusal is not an empty answer", async () => {
  const provider = createScriptedProvider({ content: null, refusal: "I will not." });
  assertEquals((await run(provider)).modelCalls, 1);
});

Deno.test("thoughts alone are an empty answer, unless the limit of tokens ended them", async () => {
  const thoughts = { content: "", extra: { reasoning_content: "Hm." } };
  const provider = createScriptedProvider(thoughts, { content: "Here." });
  assertEquals((await run(provider)).modelCalls, 2);
  const cut = createScriptedProvider({ ...thoughts, finishReason: "length" });
  assertEquals((await run(cut)).modelCalls, 1);
});

Deno.test("extra fields are sent to the provider with every call", async () => {
  const provider = createScriptedProvider(calls(call()), {});
  const extra = { stop: ["END"], user: "u1" };
  await run(provider, { settings: { maxSteps: 3, extra } });
  assertEquals(provider.requests.map((request) => request.extra), [extra, extra]);
});

Deno.test("a provider's error is thrown unchanged, also in a later step", async () => {
  const error = new ProviderError(429, "rate_limited", "busy", { kind: "status", status: 429 });
  for (const steps of [[error], [calls(call()), error]]) {
    const thrown = await assertRejects(() => run(createScriptedProvider(...steps)));
    assert(thrown === error);
  }
});

Deno.test("an abort ends the run at once, whatever it waits for", async () => {
  for (const waitsFor of ["the model", "a tool"]) {
    for (const emit of [undefined, () => {}]) {
      const controller = new AbortController();
      // The work ignores the signal and never ends: only the abort can end the run.
      const wait = <T>() => {
        queueMicrotask(() => controller.abort("any reason"));
        return never<T>();
      };
      const step: Step = waitsFor === "the model"
        ? () => wait()
        : calls(call({ name: "slow", arguments: "{}" }));
      const error = await assertRejects(() =>
        run(createScriptedProvider(step), {
          tools: [tool("slow", () => wait())],
          signal: controller.signal,
          ...(emit && { emit }),
        })
      );
      assert(isAbort(error), `while waiting for ${waitsFor}: ${error}`);
    }
  }
});

Deno.test("an abort reaches the provider and the tools, and a run does not start after it", async () => {
  const controller = new AbortController();
  const seen: (AbortSignal | undefined)[] = [];
  const look = tool("look", (_, { signal }) => {
    seen.push(signal);
    return "ok";
  });
  const provider = createScriptedProvider(async (_, { signal }) => {
    seen.push(signal);
    return await (seen.length === 1
      ? calls(call({ name: "look", arguments: "{}" }))
      : {}) as object;
  });
  await run(provider, { tools: [look], signal: controller.signal });
  assertEquals(seen.map((signal) => signal?.aborted), [false, false, false]);

  const wait = tool("wait", (_, { signal }) => {
    seen.push(signal);
    controller.abort();
    return never();
  });
  const waiting = createScriptedProvider(calls(call({ name: "wait", arguments: "{}" })));
  await assertRejects(() => run(waiting, { tools: [wait], signal: controller.signal }));
  assertEquals(seen.at(-1)?.aborted, true);
  const fresh = createScriptedProvider({});
  assert(isAbort(await assertRejects(() => run(fresh, { signal: controller.signal }))));
  assertEquals(fresh.requests, []);
});

Deno.test("no tool starts after the caller has left", async () => {
  const controller = new AbortController();
  const started: string[] = [];
  const leave = tool("leave", () => {
    started.push("leave");
    controller.abort();
    return never();
  });
  const late = tool("late", () => {
    started.push("late");
    return "ok";
  });
  const provider = createScriptedProvider(calls(
    call({ id: "c1", name: "leave", arguments: "{}" }),
    call({ id: "c2", name: "late", arguments: "{}" }),
  ));
  await assertRejects(() => run(provider, { tools: [leave, late], signal: controller.signal }));
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(started, ["leave"]);
});

Deno.test("a run with events reports them in order and has the same result", async () => {
  const steps = [
    { content: "Let me see.", toolCalls: [call()] },
    { content: "It said a." },
  ];
  const events: AgentEvent[] = [];
  const watched = await run(createScriptedProvider(...steps), {
    emit: (event) => void events.push(event),
  });
  const unwatched = await run(createScriptedProvider(...steps));
  assertEquals(watched.reply, unwatched.reply);
  assertEquals(events.map((event) => "ms" in event ? { ...event, ms: 0 } : event), [
    { type: "token", text: "Let " },
    { type: "token", text: "me " },
    { type: "token", text: "see." },
    { type: "tool_call", id: "c1", name: "echo", args: { text: "a" } },
    { type: "tool_result", id: "c1", name: "echo", content: "echo: a", status: "ok", ms: 0 },
    { type: "token", text: "It " },
    { type: "token", text: "said " },
    { type: "token", text: "a." },
  ]);
});

Deno.test("a stream that ends without a reply is a provider error", async () => {
  const provider = createScriptedProvider({});
  provider.stream = async function* () {
    yield { type: "text", text: "half" };
  };
  const error = await assertRejects(() => run(provider, { emit: () => {} }), ProviderError);
  assertEquals([error.status, error.code], [502, "provider_error"]);
});

Deno.test("parallel runs do not affect each other", async () => {
  const results = await Promise.all(Array.from({ length: 50 }, (_, i) => {
    const text = JSON.stringify({ text: `${i}` });
    const provider = createScriptedProvider(calls(call({ arguments: text })), {});
    return run(provider).then(() => toolMessages(provider));
  }));
  assertEquals(results, results.map((_, i) => [`echo: ${i}`]));
});

function toolThatRuns(run: Tool["run"]): Tool {
  return { name: "work", description: "Works.", schema: z.looseObject({}), run };
}

/** Calls that differ, so that none is refused as a repetition. */
function callsOf(count: number, from = 0): ToolCall[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `c${from + index}`,
    name: "work",
    arguments: JSON.stringify({ n: from + index }),
  }));
}

function runCalls(
  provider: ScriptedProvider,
  { work, ...more }: {
    work: Tool["run"];
    emit?: (event: AgentEvent) => void;
    signal?: AbortSignal;
  },
) {
  return runAgent({
    provider,
    model: "a/b",
    messages: [{ role: "user", content: "Hi" }],
    tools: createToolbox([toolThatRuns(work)]),
    settings: { maxSteps: 3 },
    ...more,
  });
}

function results({ requests }: ScriptedProvider): string[] {
  return (requests.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === "tool" ? [textOf(message.content)] : []
  );
}

Deno.test("64 calls of one turn are run, and the others are answered with an error that says what to do", async () => {
  let ran = 0;
  const provider = createScriptedProvider({ content: null, toolCalls: callsOf(5_000) }, {});
  const { toolCalls } = await runCalls(provider, {
    work: (args) => {
      ran++;
      return JSON.stringify(args);
    },
  });
  assertEquals([ran, toolCalls], [64, 64]);
  const told = results(provider);
  assertEquals(told.length, 5_000);
  assertEquals(told[63], '{"n":63}');
  assertEquals(
    told[64],
    "Error: too many calls in one turn: only the first 64 of 5000 were run, and this one " +
      "was not; read the results, then make the calls that are still needed in the next turn",
  );
});

Deno.test("a call that was over the limit twice may still be run, because it never was", async () => {
  const ran: unknown[] = [];
  const many = callsOf(129);
  const again = (turn: number) => many.map((call) => ({ ...call, id: `${call.id}-${turn}` }));
  const wanted = { content: null, toolCalls: callsOf(1, 64) };
  const provider = createScriptedProvider(
    { content: null, toolCalls: many },
    {
      content: null,
      toolCalls: again(2).toReversed(),
    },
    wanted,
    {},
  );
  await runCalls(provider, { work: (args) => ran.push(args) + "" });
  assertEquals([ran.length, ran.at(-1)], [129, { n: 64 }]);
});

Deno.test("at most 16 calls run at the same time, and all are answered in their order", async () => {
  let running = 0;
  let most = 0;
  const isFull = Promise.withResolvers<void>(); // the first calls wait for it
  const work: Tool["run"] = async (args) => {
    most = Math.max(most, ++running);
    if (running === 16) isFull.resolve();
    await isFull.promise;
    await new Promise((resolve) => setTimeout(resolve, 1));
    running--;
    return `${(args as { n: number }).n}`;
  };
  const provider = createScriptedProvider({ content: null, toolCalls: callsOf(40) }, {});
  await runCalls(provider, { work });
  assertEquals(most, 16);
  assertEquals(results(provider), callsOf(40).map((_, index) => `${index}`));
});

Deno.test("waiting calls are not started after the caller has left", async () => {
  let started = 0;
  const controller = new AbortController();
  const work = () => {
    if (++started === 16) controller.abort();
    return started > 1 ? never<string>() : "done";
  };
  const provider = createScriptedProvider({ content: null, toolCalls: callsOf(40) });
  await assertRejects(() => runCalls(provider, { work, signal: controller.signal }));
  await new Promise((resolve) => setTimeout(resolve, 1));
  assert(started <= 17, `${started}`);
});

Deno.test("tools that only compute do not block the event loop", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const work = () => {
    const end = performance.now() + 12;
    while (performance.now() < end);
    return "done";
  };
  const provider = createScriptedProvider({ content: null, toolCalls: callsOf(20) }, {});
  await runCalls(provider, { work });
  clearInterval(timer);
  assert(turns >= 15, `${turns}`);
});

Deno.test("arguments over the limit of a turn are refused and not sent back to the model", async () => {
  let ran = 0;
  const events: AgentEvent[] = [];
  const long = (id: string, length: number) => ({
    id,
    name: "work",
    arguments: JSON.stringify({ [id]: "x".repeat(length) }),
  });
  const provider = createScriptedProvider({
    content: null,
    toolCalls: [long("a", 600_000), long("b", 600_000), long("c", 10)],
  }, {});
  await runCalls(provider, { work: () => `${++ran}`, emit: (event) => void events.push(event) });
  const [first, second, third] = results(provider);
  assertEquals([first, third], ["1", "2"]);
  assertStringIncludes(second!, "have 1000000 together; this call was not run");
  const size = JSON.stringify(provider.requests.at(-1)).length;
  assert(size < 700_000, `${size}`);
  const shown = events.find((event) => event.type === "tool_call" && event.id === "b");
  assertEquals(JSON.stringify(shown).length < 700, true);
});

Deno.test("the results of one turn share 400,000 characters", async () => {
  const provider = createScriptedProvider({ content: null, toolCalls: callsOf(40) }, {});
  await runCalls(provider, { work: () => "x".repeat(60_000) });
  const told = results(provider);
  assert(told.every((text) => text.startsWith("x".repeat(10_000) + "\n\n(Cut here")));
  assertStringIncludes(told[0]!, "make fewer calls in one turn");
  const few = createScriptedProvider({ content: null, toolCalls: callsOf(8) }, {});
  await runCalls(few, { work: () => "x".repeat(50_000) });
  assert(results(few).every((text) => text.length === 50_000));
});

Deno.test("a failing tool's message is cut like a result", async () => {
  const provider = createScriptedProvider({ content: null, toolCalls: callsOf(1) }, {});
  const work = () => {
    throw new ToolError("y".repeat(3_000_000));
  };
  await runCalls(provider, { work });
  assert(results(provider)[0]!.length < 51_000);
});

Deno.test("endless names, ids and texts beside calls are not sent back in full", async () => {
  const endless = "z".repeat(2_000_000);
  const toolCalls = [{ id: endless, name: endless, arguments: "{}" }];
  const provider = createScriptedProvider({ content: endless, toolCalls }, {});
  await runCalls(provider, { work: () => "" });
  const { messages } = provider.requests.at(-1)!;
  const size = JSON.stringify(messages).length;
  assert(size < 402_000, `${size}`);
});

const place = (...keys: string[]) => ({ caller: "ada", keys });

Deno.test("a value is found until it is too old", () => {
  let now = 0;
  const recent = createRecent<string>({ maxAgeMs: 10, maxCharacters: 100, now: () => now });
  recent.keep("1", place("a"));
  now = 9;
  assertEquals(recent.find("a", "ada"), "1");
  now = 10;
  assertEquals(recent.find("a", "ada"), undefined);
});

Deno.test("the oldest values make room, and a value that is too large is not kept", () => {
  const recent = createRecent<string>({ maxAgeMs: 10, maxCharacters: 12, now: () => 0 });
  const find = (key: string) => recent.find(key, "ada");
  for (const key of ["a", "b", "c"]) recent.keep("1234", place(key)); // 6 characters each as JSON
  assertEquals(["a", "b", "c"].map(find), [undefined, "1234", "1234"]);
  recent.keep("12345", place("b"));
  assertEquals(["b", "c"].map(find), ["12345", undefined]);
  recent.keep("x".repeat(50), place("d"));
  assertEquals(["b", "d"].map(find), [undefined, undefined]);
});

Deno.test("the caller that holds the most makes room, whoever needs it", () => {
  const recent = createRecent<string>({ maxAgeMs: 10, maxCharacters: 24, now: () => 0 });
  recent.keep("1234", { caller: "bob", keys: ["b"] }); // the oldest of all
  for (const key of ["a1", "a2", "a3"]) recent.keep("1234", place(key));
  recent.keep("5678", { caller: "bob", keys: ["c"] });
  assertEquals(["b", "c"].map((key) => recent.find(key, "bob")), ["1234", "5678"]);
  const found = ["a1", "a2", "a3"].map((key) => recent.find(key, "ada"));
  assertEquals(found, [undefined, "1234", "1234"]);
});
