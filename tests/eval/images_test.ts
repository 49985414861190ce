import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parseConfig } from "../../shared/config/config.ts";
import { silentLogger } from "../../shared/log.ts";
import { EvalConfig } from "../../eval/config.ts";
import { createEvalHandler } from "../../eval/handler.ts";
import { createEvalDeps } from "../../eval/wiring.ts";
import { evaluateBody, evaluateRequestOf, evaluateWith } from "../fakes/eval_service.ts";
import { memoryStore } from "../fakes/memory_store.ts";
import { completion, startProviderDouble } from "../fakes/provider_double.ts";

const config = parseConfig(EvalConfig, { MODEL_RETRIES: "0" });
const service = () =>
  createEvalHandler(createEvalDeps(config, { log: silentLogger, store: memoryStore() }));

const DOT =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = (url: string) => ({ type: "image_url", image_url: { url, detail: "low" } });
const text = (text: string) => ({ type: "text", text });

Deno.test("images of a message go to the model, also in the history, and are marks in its text", async () => {
  await using model = await startProviderDouble(completion({ content: "a dot" }));
  const asked = [text("What is this?"), image(DOT)];
  const linked = [text("And this?"), image("https://images.example/cat.png")];
  const { results, run_id } = await evaluateWith(
    service(),
    evaluateBody({
      endpoint: model.baseUrl,
      test_batch: {
        id: "s",
        interactions: [{ id: "a", user_message: asked }, { id: "b", user_message: linked }],
      },
    }),
  );
  assertMatch(run_id, /./);
  const sent = model.requests.map(({ body }) => (body as { messages: unknown[] }).messages);
  assertEquals(sent, [
    [{ role: "user", content: asked }],
    [
      { role: "user", content: asked },
      { role: "assistant", content: "a dot" },
      { role: "user", content: linked },
    ],
  ]);
  const [first, second] = results.scenarios[0]!.attempts[0]!.interactions;
  assertMatch(first!.user_message, /^What is this\?\n\[image [0-9a-f]{8}\]$/);
  assertEquals(second!.user_message, "And this?\n[image: https://images.example/cat.png]");
  assertEquals<unknown>(first!.user_parts, asked);

  const again = await evaluateWith(
    service(),
    evaluateBody({ endpoint: model.baseUrl, test_batch: { id: "s", interactions: [first] } }),
  );
  const [resent] = again.results.scenarios[0]!.attempts[0]!.interactions;
  assertEquals([resent!.user_message, resent!.user_parts], [
    first!.user_message,
    first!.user_parts,
  ]);
});

Deno.test("parts that are neither text nor an image, and texts that are not theirs, are refused", async () => {
  const refuse = async (turn: Record<string, unknown>) => {
    const body = evaluateBody({ test_batch: { id: "s", interactions: [{ id: "a", ...turn }] } });
    const { errors } = await (await service()(evaluateRequestOf(body))).json();
    return errors[0];
  };
  const at = "test_batch.interactions.0";
  const file = await refuse({ user_message: [image("file:///etc/passwd")] });
  assertEquals(file.path, `${at}.user_parts.0.image_url.url`);
  assertEquals((await refuse({ user_message: [] })).path, `${at}.user_parts`);
  assertStringIncludes((await refuse({ user_message: [{ type: "video" }] })).path, "user_parts.0");
  const other = await refuse({ user_message: "edited", user_parts: [text("What?"), image(DOT)] });
  assertEquals(other, { path: `${at}.user_message`, message: "must be the text of user_parts" });
});
