import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { z } from "zod";
import { commonVariables, parseConfig } from "../../../shared/config/config.ts";
import { createService } from "../../../shared/http/server/service.ts";
import { silentLogger } from "../../../shared/log.ts";
import { createMetrics } from "../../../shared/ops/metrics.ts";
import type { ReadinessCheck } from "../../../shared/ops/operations.ts";
import { about, routesOf } from "../../fakes/routes.ts";

function serviceOf(
  { environment = {}, checks = {}, details, runs = 0 }: {
    environment?: Record<string, string>;
    checks?: Record<string, ReadinessCheck>;
    details?: Record<string, ReadinessCheck>;
    runs?: number;
  } = {},
) {
  const metrics = createMetrics({ runs: () => runs });
  const service = createService(
    routesOf({
      "GET /": () => new Response("ok"),
      "GET /things/:id": () => new Response("ok"),
    }),
    {
      about,
      config: parseConfig(z.object(commonVariables), environment),
      log: silentLogger,
      operations: {
        metrics,
        checks,
        ...(details && { details }),
      },
    },
  );
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await service(new Request(`http://127.0.0.1${path}`, init));
    return { status: response.status, text: await response.text() };
  };
  return { ask, metrics };
}

Deno.test("the process is alive, and ready if no check fails", async () => {
  const { ask } = serviceOf({ checks: { store: () => undefined } });
  assertEquals(JSON.parse((await ask("/healthz")).text), { status: "ok" });
  assertEquals(JSON.parse((await ask("/readyz")).text), { status: "ready", reasons: {} });
});

Deno.test("a service that is not ready says why, and is still alive", async () => {
  const { ask } = serviceOf({
    checks: { store: () => Promise.resolve("the disk is full"), providers: () => undefined },
  });
  const { status, text } = await ask("/readyz");
  assertEquals(status, 503);
  assertEquals(JSON.parse(text).reasons, { store: "the disk is full" });
  assertEquals((await ask("/healthz")).status, 200);
});

Deno.test("a failed part that the service can work without is shown, and the service stays ready", async () => {
  const { ask } = serviceOf({ details: { mcp: () => "files is down", more: () => undefined } });
  const { status, text } = await ask("/readyz");
  const expected = { status: "ready", reasons: {}, details: { mcp: "files is down" } };
  assertEquals([status, JSON.parse(text)], [200, expected]);
});

Deno.test("only health and readiness need no key", async () => {
  const { ask } = serviceOf({ environment: { API_KEYS: "k" } });
  const statuses: Record<string, number> = {};
  for (const path of ["/healthz", "/readyz", "/version", "/metrics", "/openapi.json", "/"]) {
    statuses[path] = (await ask(path)).status;
  }
  assertEquals(statuses, {
    "/healthz": 200,
    "/readyz": 200,
    "/version": 401,
    "/metrics": 401,
    "/openapi.json": 401,
    "/": 401,
  });
});

Deno.test("the version names the product, the commit and the main libraries", async () => {
  const { ask } = serviceOf();
  const version = JSON.parse((await ask("/version")).text);
  assertEquals([version.name, version.commit], ["assay-test", "uncompiled"]);
  for (const number of [version.version, version.deno, version.libraries.zod]) {
    assertMatch(number, /^\d+\.\d+\.\d+$/);
  }
});

Deno.test("the figures count requests by route and status, and their labels are bounded", async () => {
  const { ask, metrics } = serviceOf({ runs: 3 });
  for (let id = 0; id < 50; id++) await ask(`/things/${id}`);
  for (let id = 0; id < 50; id++) await ask(`/nowhere/${id}`);
  for (const method of ["BREW", "FOO"]) await ask("/", { method });
  metrics.modelCall({
    provider: "hub",
    outcome: "ok",
    seconds: 0.2,
    inputTokens: 5,
    outputTokens: 7,
  });
  metrics.toolCall({ tool: "calculator", outcome: "ok", seconds: 0.001 });
  const end = metrics.startTurn();
  metrics.eventLoopLag(0.002);
  const { text } = await ask("/metrics");
  end();
  for (
    const line of [
      'assay_requests_total{method="GET",route="GET /things/:id",status="200"} 50',
      'assay_requests_total{method="GET",route="none",status="404"} 50',
      'assay_requests_total{method="other",route="none",status="405"} 2',
      'assay_request_seconds_count{route="GET /things/:id"} 50',
      'assay_model_calls_total{provider="hub",outcome="ok"} 1',
      'assay_tokens_total{provider="hub",direction="output"} 7',
      'assay_tool_calls_total{tool="calculator",outcome="ok"} 1',
      "assay_runs_under_way 3",
      "assay_turns_under_way 1",
      "assay_event_loop_lag_seconds_count 1",
    ]
  ) assertStringIncludes(text, line);
  assert(text.split("\n").length < 200, "labels grow with what callers send");
  assertStringIncludes((await ask("/metrics")).text, "assay_turns_under_way 0");
});
