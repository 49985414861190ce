import { textOf } from "../../../shared/providers/content.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { z } from "zod";
import type { AgentEvent } from "../../../agent/run/events.ts";
import { runAgent } from "../../../agent/run/graph.ts";
import type { AgentSettings } from "../../../agent/run/model_call.ts";
import { createToolbox, type Tool, ToolError } from "../../../agent/tools/tool.ts";
import type { ToolCall } from "../../../shared/providers/provider.ts";
import {
  createScriptedProvider,
  never,
  type ScriptedProvider,
} from "../../fakes/scripted_provider.ts";

function tool(run: Tool["run"]): Tool {
  return { name: "work", description: "Works.", schema: z.looseObject({}), run };
}

/** Calls that differ, so that none is refused as a repetition. */
function calls(count: number, from = 0): ToolCall[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `c${from + index}`,
    name: "work",
    arguments: JSON.stringify({ n: from + index }),
  }));
}

function run(
  provider: ScriptedProvider,
  { work, toolLimits, ...more }: {
    work: Tool["run"];
    toolLimits?: AgentSettings["toolLimits"];
    emit?: (event: AgentEvent) => void;
    signal?: AbortSignal;
  },
) {
  return runAgent({
    provider,
    model: "a/b",
    messages: [{ role: "user", content: "Hi" }],
    tools: createToolbox([tool(work)]),
    settings: { maxSteps: 3, toolLimits },
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
  const provider = createScriptedProvider({ content: null, toolCalls: calls(5_000) }, {});
  const { toolCalls } = await run(provider, {
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
  const many = calls(3);
  const again = (turn: number) => many.map((call) => ({ ...call, id: `${call.id}-${turn}` }));
  const wanted = { content: null, toolCalls: calls(1, 1) };
  const provider = createScriptedProvider(
    { content: null, toolCalls: many },
    {
      content: null,
      toolCalls: again(2).toReversed(),
    },
    wanted,
    {},
  );
  await run(provider, { work: (args) => ran.push(args) + "", toolLimits: { maxCalls: 1 } });
  assertEquals(ran, [{ n: 0 }, { n: 2 }, { n: 1 }]);
});

Deno.test("at most 16 calls run at the same time, and all are answered in their order", async () => {
  let running = 0;
  let most = 0;
  const isFull = Promise.withResolvers<void>(); // the first calls wait for it, however slow they start
  const work: Tool["run"] = async (args) => {
    most = Math.max(most, ++running);
    if (running === 16) isFull.resolve();
    await isFull.promise;
    await new Promise((resolve) => setTimeout(resolve, 1));
    running--;
    return `${(args as { n: number }).n}`;
  };
  const provider = createScriptedProvider({ content: null, toolCalls: calls(40) }, {});
  await run(provider, { work });
  assertEquals(most, 16);
  assertEquals(results(provider), calls(40).map((_, index) => `${index}`));
});

Deno.test("waiting calls are not started after the caller has left", async () => {
  let started = 0;
  const controller = new AbortController();
  const work = () => {
    if (++started === 16) controller.abort();
    return started > 1 ? never<string>() : "done";
  };
  const provider = createScriptedProvider({ content: null, toolCalls: calls(40) });
  await assertRejects(() => run(provider, { work, signal: controller.signal }));
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
  const provider = createScriptedProvider({ content: null, toolCalls: calls(20) }, {});
  await run(provider, { work });
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
  await run(provider, { work: () => `${++ran}`, emit: (event) => void events.push(event) });
  const [first, second, third] = results(provider);
  assertEquals([first, third], ["1", "2"]);
  assertStringIncludes(second!, "have 1000000 together; this call was not run");
  const size = JSON.stringify(provider.requests.at(-1)).length;
  assert(size < 700_000, `${size}`);
  const shown = events.find((event) => event.type === "tool_call" && event.id === "b");
  assertEquals(JSON.stringify(shown).length < 700, true);
});

Deno.test("the results of one turn share 400,000 characters", async () => {
  const provider = createScriptedProvider({ content: null, toolCalls: calls(40) }, {});
  await run(provider, { work: () => "x".repeat(60_000) });
  const told = results(provider);
  assert(told.every((text) => text.startsWith("x".repeat(10_000) + "\n\n(Cut here")));
  assertStringIncludes(told[0]!, "make fewer calls in one turn");
  const few = createScriptedProvider({ content: null, toolCalls: calls(8) }, {});
  await run(few, { work: () => "x".repeat(50_000) });
  assert(results(few).every((text) => text.length === 50_000));
});

Deno.test("a failing tool's message is cut like a result", async () => {
  const provider = createScriptedProvider({ content: null, toolCalls: calls(1) }, {});
  const work = () => {
    throw new ToolError("y".repeat(3_000_000));
  };
  await run(provider, { work });
  assert(results(provider)[0]!.length < 51_000);
});

Deno.test("endless names, ids and texts beside calls are not sent back in full", async () => {
  const endless = "z".repeat(2_000_000);
  const toolCalls = [{ id: endless, name: endless, arguments: "{}" }];
  const provider = createScriptedProvider({ content: endless, toolCalls }, {});
  await run(provider, { work: () => "" });
  const { messages } = provider.requests.at(-1)!;
  const size = JSON.stringify(messages).length;
  assert(size < 402_000, `${size}`);
});
