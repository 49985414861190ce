import { assertEquals } from "@std/assert";
import { readChunks, readEvents } from "../../fakes/events.ts";
import { openAIRoutes, SUM } from "../../fakes/openai_routes.ts";
import { createScriptedProvider, type Step } from "../../fakes/scripted_provider.ts";

const JSON_TEXT = '{"sum": 4}';
const FORMAT = { name: "sum", schema: { type: "object" } };

/** The text of a streamed answer to a caller who wants JSON, on each route. */
const ROUTES = {
  async "chat/completions"(steps: Step[], body: Record<string, unknown> = {}) {
    const { post } = openAIRoutes(createScriptedProvider(...steps));
    const chunks = await readChunks(
      await post("chat/completions", {
        messages: [{ role: "user", content: "2+2?" }],
        response_format: { type: "json_schema", json_schema: FORMAT },
        stream: true,
        ...body,
      }),
    );
    return chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
  },
  async responses(steps: Step[], body: Record<string, unknown> = {}) {
    const { post } = openAIRoutes(createScriptedProvider(...steps));
    const text = { format: { type: "json_schema", ...FORMAT } };
    const response = await post("responses", { input: "2+2?", text, stream: true, ...body });
    let said = "";
    for await (const { event, data } of readEvents(response)) {
      if (event === "response.output_text.delta") said += data.delta;
    }
    return said;
  },
};

for (const [route, textOf] of Object.entries(ROUTES)) {
  Deno.test(`${route}: a stream of JSON has no text of the turns before the answer`, async () => {
    assertEquals(await textOf([SUM, { content: JSON_TEXT }]), JSON_TEXT);
  });

  Deno.test(`${route}: an answer that is not JSON after all is streamed, too`, async () => {
    for (const content of ["I cannot say.", "```json\n{}\n```", " \n "]) {
      assertEquals(await textOf([SUM, { content: `Well: ${content}` }]), `Well: ${content}`);
    }
  });

  Deno.test(`${route}: text beside a call of the caller's tool is streamed`, async () => {
    const call = { id: "c2", name: "look_up", arguments: "{}" };
    const tool = { name: "look_up", parameters: { type: "object" } };
    const tools = route === "responses"
      ? [{ type: "function", ...tool }]
      : [{ type: "function", function: tool }];
    const steps = [SUM, { content: "I look it up.", toolCalls: [call] }];
    assertEquals(await textOf(steps, { tools }), "I look it up.");
  });
}

Deno.test("without a format of JSON the text of every turn is streamed", async () => {
  const text = await ROUTES["chat/completions"]([SUM, { content: JSON_TEXT }], {
    response_format: { type: "text" },
  });
  assertEquals(text, `Let me see.\n\n${JSON_TEXT}`);
});
