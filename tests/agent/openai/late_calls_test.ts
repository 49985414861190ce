import { assertEquals } from "@std/assert";
import type { ChatDelta, ChatProvider } from "../../../shared/providers/provider.ts";
import { readChunks, readEvents } from "../../fakes/events.ts";
import { openAIRoutes } from "../../fakes/openai_routes.ts";
import { chatReply, createScriptedProvider } from "../../fakes/scripted_provider.ts";

/** A call whose id comes first, and whose name and arguments come after another whole call. */
const LATE_NAME: ChatDelta[] = [
  { type: "call", index: 0, id: "a", name: "", arguments: "" },
  { type: "call", index: 1, id: "b", name: "get_news", arguments: '{"b":2}' },
  { type: "call", index: 0, name: "get_weather", arguments: '{"a":1}' },
];
/** Arguments that come before the name. */
const LATER_NAME: ChatDelta[] = [
  { type: "call", index: 0, id: "a", name: "", arguments: '{"a"' },
  { type: "call", index: 1, id: "b", name: "get_news", arguments: '{"b":2}' },
  { type: "call", index: 0, name: "get_weather", arguments: ":1}" },
];
/** The second call is not announced at all. */
const UNANNOUNCED: ChatDelta[] = [
  { type: "call", index: 1, id: "b", name: "get_news", arguments: '{"b":2}' },
];

for (
  const [what, pieces] of [
    ["whose name comes late", LATE_NAME],
    ["whose name comes after its arguments", LATER_NAME],
    ["that is only in the whole reply", UNANNOUNCED],
  ] as const
) {
  Deno.test(`a streamed call ${what} reaches the caller once, as do those beside it`, async () => {
    const toolCalls = [
      { id: "a", name: "get_weather", arguments: '{"a":1}' },
      { id: "b", name: "get_news", arguments: '{"b":2}' },
    ];
    const provider: ChatProvider = {
      ...createScriptedProvider({}),
      async *stream() {
        yield* pieces;
        yield { type: "reply", reply: chatReply({ content: null, toolCalls }) };
      },
    };
    const { post } = openAIRoutes(provider);
    const tools = ["get_weather", "get_news"].map((name) => ({ name, parameters: {} }));
    const response = await post("chat/completions", {
      messages: [{ role: "user", content: "How is it?" }],
      tools: tools.map((tool) => ({ type: "function", function: tool })),
      stream: true,
    });
    const calls: { id: string; name: string; text: string }[] = [];
    const chunks = await readChunks(response);
    for (const piece of chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])) {
      const call = calls[piece.index] ??= { id: piece.id, name: "", text: "" };
      call.name += piece.function.name ?? "";
      call.text += piece.function.arguments ?? "";
    }
    assertEquals(calls.map(({ name, text }) => [name, text]), [
      ["get_news", '{"b":2}'],
      ["get_weather", '{"a":1}'],
    ]);
    assertEquals(new Set(calls.map(({ id }) => id)).size, 2);

    const streamed = await post("responses", {
      input: "How is it?",
      tools: tools.map((tool) => ({ type: "function", ...tool })),
      stream: true,
    });
    const events = await Array.fromAsync(readEvents(streamed));
    const { output } = events.at(-1)!.data.response;
    const items = output.map((item: Record<string, unknown>) => [item.name, item.arguments]);
    assertEquals(items, [["get_news", '{"b":2}'], ["get_weather", '{"a":1}']]);
  });
}
