import { assertEquals } from "@std/assert";
import type { Adaptation } from "../../../shared/providers/adapted_requests.ts";
import { ADAPTATIONS } from "../../../shared/providers/adaptations.ts";
import type { ChatMessage, ChatRequest } from "../../../shared/providers/provider.ts";

const call = { id: "1", name: "add", arguments: "{}" };
const CALLED: ChatMessage[] = [{ role: "assistant", content: "", toolCalls: [call] }];
const tool = { name: "add", description: "", parameters: {} };
const { newerLimit: TO_NEWER, olderLimit: TO_OLDER, toolHistory: TOOL_HISTORY }: Record<
  string,
  Adaptation | undefined
> = ADAPTATIONS;

const request = (fields: Partial<ChatRequest>): ChatRequest => ({
  model: "m",
  messages: [],
  ...fields,
});

Deno.test("only a conversation with tool calls and without tools gets their definitions", () => {
  const applies = (fields: Partial<ChatRequest>) => TOOL_HISTORY!.applies(request(fields));
  assertEquals(applies({ messages: CALLED }), true);
  assertEquals(applies({ messages: CALLED, tools: [] }), true);
  assertEquals(applies({ messages: CALLED, tools: [tool] }), false);
  assertEquals(applies({ messages: CALLED, rawMessages: [] }), false);
  assertEquals(applies({}), false);
});

Deno.test("a limit of tokens goes by its other name, but not in messages that are passed on", () => {
  const extra = { max_completion_tokens: 5, seed: 1 };
  assertEquals(TO_NEWER!.applies(request({ maxTokens: 5 })), true);
  assertEquals(TO_NEWER!.applies(request({ extra })), false);
  assertEquals(TO_OLDER!.applies(request({ extra })), true);
  assertEquals(TO_OLDER!.applies(request({ extra, maxTokens: 5 })), false);
  assertEquals(TO_OLDER!.applies(request({ extra, rawMessages: [] })), false);
  assertEquals(TO_OLDER!.applies(request({ extra: { max_completion_tokens: "5" } })), false);
  assertEquals(TO_OLDER!.adapt(request({ extra })), request({ extra: { seed: 1 }, maxTokens: 5 }));
  assertEquals(TO_NEWER!.adapt(request({ extra: { seed: 1 }, maxTokens: 5 })), request({ extra }));
});
