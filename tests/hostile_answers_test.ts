import { assertEquals } from "@std/assert";
import { AgentConfig } from "../agent/config.ts";
import { createAgentHandler } from "../agent/handler.ts";
import { createAgentDeps } from "../agent/wiring.ts";
import { parseConfig } from "../shared/service/config.ts";
import { silentLogger } from "../shared/service/log.ts";
import { agentRequestOf } from "./fakes/agent_service.ts";
import { evaluateBody, evaluateWith, wiredService } from "./fakes/eval_service.ts";
import { type Answer, startProviderDouble } from "./fakes/provider_double.ts";

/** Answers that no normal model gives. They may fail their own turn and nothing else. */

const LEVELS = 100_000;
const MANY = 1_000_000;
const LIST = "[".repeat(LEVELS) + "]".repeat(LEVELS);
const OBJECT = '{"a":'.repeat(LEVELS) + "1" + "}".repeat(LEVELS);

const completion = (message: string, usage = "null") =>
  `{"choices":[{"index":0,"finish_reason":"stop","message":${message}}],"usage":${usage}}`;
const said = (usage: string) => completion('{"role":"assistant","content":"Hello"}', usage);
const calling = (args: string) =>
  completion(
    `{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",` +
      `"function":{"name":"calculator","arguments":${args}}}]}`,
  );

interface Case {
  what: string;
  answer: string;
  /** The status of the agent's answer. */
  status: number;
  /** The reply of the turn, and its error. */
  turn: [reply: string, error?: string];
}

const CASES: Case[] = [
  { what: "lists in lists", answer: LIST, status: 502, turn: ["Request failed", "provider_error"] },
  {
    what: "tokens of -1",
    answer: said('{"prompt_tokens":-1,"completion_tokens":-1,"total_tokens":-1}'),
    status: 200,
    turn: ["Hello"],
  },
  {
    what: "one count below zero",
    answer: said('{"prompt_tokens":9,"completion_tokens":-2,"total_tokens":7}'),
    status: 200,
    turn: ["Hello"],
  },
  {
    what: "counts beyond all numbers",
    answer: said('{"prompt_tokens":1e308,"completion_tokens":1e308,"total_tokens":1e400}'),
    status: 200,
    turn: ["Hello"],
  },
  {
    what: "arguments of endless depth",
    answer: calling(OBJECT),
    status: 502,
    turn: ["Request failed", "provider_error"],
  },
  {
    what: "a million parts",
    answer: completion(`{"content":[${Array(MANY).fill('{"text":"a"}')}]}`),
    status: 502,
    turn: ["Request failed", "provider_error"],
  },
  {
    what: "a million choices",
    answer: `{"choices":[${Array(MANY).fill('{"message":{"content":"a"}}')}]}`,
    status: 502,
    turn: ["Request failed", "provider_error"],
  },
  {
    what: "the same as a text",
    answer: calling(JSON.stringify(OBJECT)),
    status: 200,
    turn: [""],
  },
];

/** The agent with a hub that gives these answers, the last one again and again. */
async function askAgent(answers: Answer[], request: Request): Promise<number> {
  await using hub = await startProviderDouble(answers);
  const config = parseConfig(AgentConfig, { HUB_BASE_URL: hub.baseUrl, MODEL_RETRIES: "0" });
  const deps = await createAgentDeps(config, silentLogger);
  const response = await createAgentHandler(deps)(request);
  await response.body?.cancel();
  await deps.tools[Symbol.asyncDispose]();
  return response.status;
}

Deno.test("agent: a chunk of endless depth is not passed on", async () => {
  const events = `data: {"choices":[{"index":0,"delta":${LIST}}]}\n\ndata: [DONE]\n\n`;
  const answer = () => new Response(events, { headers: { "content-type": "text/event-stream" } });
  const request = new Request("http://127.0.0.1:8000/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "a/b:plain",
      stream: true,
      messages: [{ role: "user", content: "?" }],
    }),
  });
  assertEquals(await askAgent([answer], request), 502);
});

for (const { what, answer, status, turn } of CASES) {
  const answers = [answer, said("null")].map((text) => () =>
    new Response(text, { headers: { "content-type": "application/json" } })
  );

  Deno.test(`agent: a model that answers with ${what} is no 500`, async () => {
    const body = { messages: [{ type: "human", content: "?" }] };
    const request = agentRequestOf(body, { headers: { "x-agent-events": "tools" } });
    assertEquals(await askAgent(answers, request), status);
  });

  Deno.test(`eval: an endpoint that answers with ${what} does not end the run`, async () => {
    await using endpoint = await startProviderDouble(answers);
    using wired = wiredService();
    const reference_tools = [{ name: "calculator", args: { a: { $regex: "x" } } }];
    const interactions = ["1", "2"].map((id) => ({ id, user_message: "?", reference_tools }));
    const { results } = await evaluateWith(
      wired.service,
      evaluateBody({
        test_batch: { id: "s", interactions },
        endpoint: endpoint.baseUrl,
        protocol: "openai",
      }),
    );
    const [first, second] = results.scenarios[0]!.attempts[0]!.interactions;
    assertEquals([first!.agent_reply, first!.error?.code], [turn[0], turn[1]]);
    assertEquals(second!.agent_reply, "Hello");
  });
}
