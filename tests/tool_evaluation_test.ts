import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parse as parseCsv } from "csv-parse/sync";
import type { Target } from "../eval/ask/target.ts";
import type { InteractionResult } from "../eval/test/interaction_result.ts";
import {
  evalService,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
  wiredService,
} from "./fakes/eval_service.ts";
import { completion, startProviderDouble } from "./fakes/provider_double.ts";
import { startServiceProcess } from "./fakes/service_process.ts";
import { pairIn } from "./fakes/compare_two.ts";

/** Tool calls of real endpoints: an agent that runs its tools, and models that do not. */

function createEvaluation() {
  const wired = wiredService();
  const evaluate = async (body: Record<string, unknown>) =>
    await evaluateWith(wired.service, evaluateBody(body));
  return { ...wired, evaluate };
}

const turn = (user_message: string, fields: Partial<InteractionResult>) => ({
  test_batch: { id: "s", interactions: [{ id: "1", user_message, ...fields }] },
});

const toolScores = ({ scores }: InteractionResult) => [
  scores.tool_f1,
  scores.tool_args,
  scores.tool_order,
  scores.tools,
];

Deno.test("the agent's demo model is evaluated by the tools that it calls", async (t) => {
  await using agent = await startServiceProcess("agent");
  using evaluation = createEvaluation();
  const ask = async (user_message: string, fields: Record<string, unknown>, more = {}) => {
    const { results } = await evaluation.evaluate({
      ...turn(user_message, fields),
      endpoint: agent.url,
      model_id: "demo/assistant",
      ...more,
    });
    return results.scenarios[0]!.attempts[0]!.interactions[0]!;
  };

  for (const protocol of ["openai", "agent"]) {
    const endpoint = protocol === "openai" ? `${agent.url}/v1` : agent.url;
    await t.step(`an expected call, by the protocol ${protocol}`, async () => {
      const found = await ask("What is 17 * 23?", {
        reference_tools: [{ name: "calculator", args: { expression: { $regex: "17.*23" } } }],
      }, { protocol, endpoint });
      assertEquals(toolScores(found), [1, 1, 1, 1]);
      const [call] = found.tool_calls!;
      assertEquals([call!.name, call!.status], ["calculator", "ok"]);
      assert(call!.ms !== null);
      assertEquals(found.scores.overall, 1);
    });
  }
  await t.step("a call counts 0 if none is expected", async () => {
    const found = await ask("What is 17 * 23?", { reference_tools: [] });
    assertEquals(toolScores(found), [0, null, 0, 0]);
  });
  await t.step("no call, if none is expected", async () => {
    const found = await ask("Hello!", { reference_tools: [] });
    assertEquals(toolScores(found), [1, null, 1, 1]);
    assertEquals(found.tool_calls, []);
  });
  await t.step("another tool than expected", async () => {
    const found = await ask("What is 17 * 23?", {
      reference_tools: [{ name: "web_search", args: { query: "17 * 23" } }],
    });
    assertEquals(toolScores(found), [0, 0, 0, 0]);
  });
});

Deno.test("an agent on a scripted provider is evaluated by its calls, in their order", async () => {
  const call = (name: string, args: unknown) =>
    completion({ toolCalls: [{ name, arguments: JSON.stringify(args) }] });
  await using hub = await startProviderDouble([
    call("current_time", { time_zone: "UTC" }),
    call("calculator", { expression: "1/0" }),
    completion({ content: "Done." }),
  ]);
  await using agent = await startServiceProcess("agent", {
    environment: { HUB_BASE_URL: hub.baseUrl, HUB_API_KEY: "k" },
  });
  using evaluation = createEvaluation();
  const { results, run_id } = await evaluation.evaluate({
    ...turn("Go", {
      reference_tools: [{ name: "calculator" }, { name: "current_time" }],
      tools_mode: "any_order",
    }),
    endpoint: agent.url,
    model_id: "acme/model",
  });
  const found = results.scenarios[0]!.attempts[0]!.interactions[0]!;
  assertEquals(toolScores(found), [1, null, 0.5, 1]);
  assertEquals(found.tool_calls!.map(({ name, status }) => [name, status]), [
    ["current_time", "ok"],
    ["calculator", "error"],
  ]);
  const path = `/runs/${run_id}/export?format=csv`;
  const csv = await (await evaluation.service(new Request(`http://127.0.0.1:8080${path}`))).text();
  const [row] = parseCsv(csv, { columns: true }) as Record<string, string>[];
  assertEquals(JSON.parse(row!.tool_calls!).length, 2);
  assertEquals(JSON.parse(row!.reference_tools!)[0].name, "calculator");
});

Deno.test("tool_calls of an OpenAI-compatible endpoint are compared and stored", async () => {
  const toolCalls = [
    { name: "search", arguments: '{"q": "kettle", "limit": 5}' },
    { name: "buy", arguments: "{broken" },
  ];
  await using endpoint = await startProviderDouble(completion({ toolCalls }));
  using evaluation = createEvaluation();
  const { results, run_id } = await evaluation.evaluate({
    ...turn("Buy a kettle", { reference_tools: [{ name: "search", args: { q: "kettle" } }] }),
    endpoint: endpoint.baseUrl,
  });
  const found = results.scenarios[0]!.attempts[0]!.interactions[0]!;
  assertEquals(found.tool_calls, [
    { name: "search", args: { q: "kettle", limit: 5 }, status: null, ms: null },
    { name: "buy", args: "{broken", status: null, ms: null },
  ]);
  assertEquals(toolScores(found), [2 / 3, 0.5, 0.5, 0]);
  assertEquals(results.scenarios[0]!.pass_rate, 0);
  const path = `/runs/${run_id}/export?format=junit`;
  const junit = await (await evaluation.service(
    new Request(`http://127.0.0.1:8080${path}`),
  )).text();
  assertStringIncludes(junit, 'message="tool calls: expected search(');
  assertStringIncludes(junit, "called search(");
  assertEquals(endpoint.requests[0]!.headers.get("x-agent-events"), "tools");
});

Deno.test("a call with an empty text for its arguments has none", async () => {
  const toolCalls = [{ name: "list_orders", arguments: "" }];
  await using endpoint = await startProviderDouble(completion({ toolCalls }));
  using evaluation = createEvaluation();
  const { results } = await evaluation.evaluate({
    ...turn("My orders?", { reference_tools: [{ name: "list_orders", args: {} }] }),
    endpoint: endpoint.baseUrl,
  });
  const found = results.scenarios[0]!.attempts[0]!.interactions[0]!;
  assertEquals(found.tool_calls, [{ name: "list_orders", args: {}, status: null, ms: null }]);
  assertEquals(toolScores(found), [1, 1, 1, 1]);
});

Deno.test("a run that expects no tool calls neither asks for them nor has them", async () => {
  await using endpoint = await startProviderDouble(completion({ content: "Hello" }));
  using evaluation = createEvaluation();
  const { results } = await evaluation.evaluate({
    test_batch: { id: "s", interactions: [{ id: "1", user_message: "Hi", tool_calls: "my own" }] },
    endpoint: endpoint.baseUrl,
  });
  const found = results.scenarios[0]!.attempts[0]!.interactions[0]!;
  assertEquals(endpoint.requests[0]!.headers.get("x-agent-events"), null);
  assertEquals(found.tool_calls as unknown, "my own");
  assertEquals("tools" in found.scores, false);
});

Deno.test("an agent that does not say what it called leaves the scores missing", async () => {
  await using endpoint = await startProviderDouble(() =>
    Promise.resolve(Response.json({ content: "Hello", type: "ai", tool_calls: [] }))
  );
  using evaluation = createEvaluation();
  const { results } = await evaluation.evaluate({
    ...turn("Hi", { reference_tools: [{ name: "search" }] }),
    endpoint: endpoint.origin,
    protocol: "agent",
  });
  const found = results.scenarios[0]!.attempts[0]!.interactions[0]!;
  assertEquals(found.missing_scores!.tools, "the endpoint does not report its tool calls");
  assertEquals(found.scores.overall, null);
});

Deno.test("a bad expectation of tools is a 400 that names its path", async () => {
  using evaluation = createEvaluation();
  const cases: [Record<string, unknown>, string][] = [
    [{ reference_tools: [{ args: {} }] }, "reference_tools.0.name"],
    [{ reference_tools: [{ name: "a", arg: {} }] }, "reference_tools.0"],
    [{ reference_tools: [], tools_mode: "strict" }, "tools_mode"],
    [
      { reference_tools: [{ name: "a", args: { q: { $regex: "(" } } }] },
      "reference_tools.0.args.q.$regex",
    ],
    [
      { reference_tools: [{ name: "a", args: { q: { to: [{ $regex: "(" }] } } }] },
      "reference_tools.0.args.q.to.0.$regex",
    ],
  ];
  for (const [fields, path] of cases) {
    const response = await evaluation.service(evaluateRequestOf(evaluateBody(turn("Hi", fields))));
    assertEquals(response.status, 400);
    const { errors } = await response.json();
    assertEquals(errors[0].path, `test_batch.interactions.0.${path}`);
  }
});

Deno.test("comparisons have the tool calls as scores, unless other calls are expected", async () => {
  const target = (name: string): Target => ({
    ask: () =>
      Promise.resolve({
        content: "done",
        usage: null,
        toolCalls: [{ name, args: {}, status: "ok" as const, ms: 1 }],
      }),
  });
  const { service } = evalService(undefined, { targetOf: ({ model_id }) => target(model_id) });
  const run = async (model_id: string, expected: string) =>
    (await evaluateWith(
      service,
      evaluateBody({
        model_id,
        test_batch: Array.from({ length: 8 }, (_, index) => ({
          id: `s${index}`,
          interactions: [{
            id: "1",
            user_message: `Question ${index}`,
            reference_tools: [{ name: expected }],
          }],
        })),
      }),
    )).run_id;
  const compare = async (baseline: string, candidate: string) => {
    const path = `/compare?baseline=${baseline}&candidate=${candidate}`;
    return pairIn(await (await service(new Request(`http://127.0.0.1:8080${path}`))).json());
  };
  const same = await compare(await run("look", "find"), await run("find", "find"));
  for (const score of ["tool_f1", "tool_order", "tools"]) {
    const { difference, ci95 } = same.scores[score];
    assertEquals([score, difference, ci95[0] > 0], [score, 1, true]);
  }
  const other = await compare(await run("look", "find"), await run("find", "look"));
  assertEquals(other.scores.tools, undefined);
  assertEquals(
    other.left_out.find(({ score }: { score: string }) => score === "tools").reason,
    "other_expectation",
  );
});
