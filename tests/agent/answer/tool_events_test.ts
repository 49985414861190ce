import { assertEquals } from "@std/assert";
import { asFields } from "../../../shared/fields.ts";
import { agentRequestOf, agentService } from "../../fakes/agent_service.ts";
import { hubOf } from "../../fakes/openai_provider.ts";
import { openAIRoutes } from "../../fakes/openai_routes.ts";
import {
  completion,
  completionChunks,
  json,
  type ReceivedRequest,
  sse,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

const headers = { "x-agent-events": "tools" };
const isStreamed = ({ body }: ReceivedRequest) => Boolean(asFields(body).stream);
const messages = [{ role: "user", content: "Hi" }];

Deno.test("tool events of an answer that comes whole make no stream of the provider's", async () => {
  const call = { name: "calculator", arguments: '{"expression":"2+2"}' };
  await using double = await startProviderDouble([
    completion({ toolCalls: [call] }),
    completion({ content: "4" }),
  ]);
  const { service } = agentService(hubOf(double));
  const body = { messages: [{ type: "human", content: "Hi" }] };
  const answer = await (await service(agentRequestOf(body, { headers }))).json();
  assertEquals([answer.content, answer.tool_events.length], ["4", 2]);
  assertEquals(double.requests.map(isStreamed), [false, false]);
});

Deno.test("a plain answer has all its choices, also if tool events are asked for", async () => {
  const choices = ["A", "B"].map((content, index) => ({
    index,
    message: { role: "assistant", content },
    finish_reason: "stop",
  }));
  const whole = json({ id: "x1", model: "m-1", choices });
  await using double = await startProviderDouble((request) =>
    isStreamed(request) ? sse(completionChunks())(request) : whole(request)
  );
  const { post } = openAIRoutes(hubOf(double));
  const body = { model: "a/b:plain", messages, n: 2 };
  const answer = await (await post("chat/completions", body, headers)).json();
  assertEquals(answer.choices, choices);
});
