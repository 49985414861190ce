import { assertEquals } from "@std/assert";
import { EvalConfig } from "../../../eval/config.ts";
import { createEvalHandler } from "../../../eval/handler.ts";
import { createEvalDeps } from "../../../eval/wiring.ts";
import { parseConfig } from "../../../shared/config/config.ts";
import { silentLogger } from "../../../shared/log.ts";
import { evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";
import { memoryStore } from "../../fakes/memory_store.ts";

Deno.test("an endpoint that repeats its address in an error does not show its query", async () => {
  let status = 404;
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname, search } = new URL(request.url);
    return Response.json({ detail: `No route for ${pathname}${search}` }, { status });
  });
  const config = parseConfig(EvalConfig, { MODEL_RETRIES: "0" });
  const deps = createEvalDeps(config, { log: silentLogger, store: memoryStore() });
  using _checks = deps.scoring.checks;
  const endpoint = `http://127.0.0.1:${server.addr.port}/v1?api_key=HIDDENKEY`;
  for (status of [404, 400, 500]) {
    const { results } = await evaluateWith(
      createEvalHandler(deps),
      evaluateBody({
        endpoint,
        test_batch: { id: "s", interactions: [{ id: "1", user_message: "hi" }] },
      }),
    );
    const { error } = results.scenarios[0]!.attempts[0]!.interactions[0]!;
    const [said] = /No route for [^\s;]+/.exec(error!.detail)!;
    assertEquals([status, said], [status, "No route for /v1/chat/completions?[secret]"]);
  }
});
