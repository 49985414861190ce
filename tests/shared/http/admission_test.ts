import { assertEquals, assertStringIncludes } from "@std/assert";
import { z } from "zod";
import { commonVariables, parseConfig } from "../../../shared/config/config.ts";
import { createAdmission } from "../../../shared/http/router/admission.ts";
import { createLocalConnection } from "../../../shared/http/server/connection.ts";
import { createService } from "../../../shared/http/server/service.ts";
import { createLogger } from "../../../shared/log.ts";
import { createMetrics } from "../../../shared/ops/metrics.ts";
import { about, routesOf } from "../../fakes/routes.ts";

/** A watched service behind a server that takes one request at once. */
function serviceForOne() {
  const lines: string[] = [];
  const metrics = createMetrics({ runs: () => 0 });
  const admission = createAdmission({ what: "requests", max: 1, setting: "MAX_REQUESTS" });
  const service = createService(routesOf({ "GET /": () => new Response("ok") }), {
    about,
    config: parseConfig(z.object(commonVariables), {}),
    log: createLogger({ level: "info", format: "json", write: (line) => void lines.push(line) }),
    operations: { metrics, checks: {} },
  });
  /** The answer, whose place is held until `close`. */
  async function ask(path: string) {
    const connection = createLocalConnection();
    const request = new Request(`http://127.0.0.1${path}`, {
      headers: { origin: "http://localhost:5173" },
    });
    const response = await service(request, { ...connection, admission });
    const { status, headers } = response;
    return { status, headers, text: await response.text(), close: connection.close };
  }
  return { ask, admission, lines, metrics };
}

Deno.test("a refusal of a full server can be read by a page, is logged and is counted", async () => {
  const { ask, lines, metrics } = serviceForOne();
  const first = await ask("/");
  const refused = await ask("/");
  const { code, detail } = JSON.parse(refused.text);
  assertEquals([refused.status, code], [503, "overloaded"]);
  assertEquals(detail, "too many requests: 1 are running (MAX_REQUESTS); retry in 2 s");
  assertEquals(refused.headers.get("access-control-allow-origin"), "http://localhost:5173");
  const logged = JSON.parse(lines.at(-1) ?? "");
  assertEquals([logged.status, logged.request_id], [503, refused.headers.get("x-request-id")]);
  const counted = 'assay_requests_total{method="GET",route="none",status="503"} 1';
  assertStringIncludes(await metrics.text(), counted);
  first.close();
  assertEquals((await ask("/")).status, 200);
});

Deno.test("a full server is alive and ready, and probes are not counted", async () => {
  const { ask, admission } = serviceForOne();
  for (const path of ["/healthz", "/readyz"]) assertEquals((await ask(path)).status, 200);
  assertEquals(admission.used, 0);
  await ask("/");
  for (const path of ["/healthz", "/readyz"]) assertEquals((await ask(path)).status, 200);
});

Deno.test("a stopping server is alive, not ready with a reason, and accepts no more requests", async () => {
  const { ask, admission } = serviceForOne();
  admission.stop();
  assertEquals((await ask("/healthz")).status, 200);
  const { status, text } = await ask("/readyz");
  assertEquals([status, JSON.parse(text).reasons], [503, { service: "stopping" }]);
  const refused = await ask("/");
  assertEquals([refused.status, JSON.parse(refused.text).code], [503, "shutting_down"]);
  assertEquals(refused.headers.get("connection"), "close");
});
