import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { z } from "zod";
import { commonVariables, parseConfig } from "../../../../shared/service/config.ts";
import { createService } from "../../../../shared/http/service.ts";
import { silentLogger } from "../../../../shared/service/log.ts";
import {
  createIndexRoute,
  type ReadinessCheck,
} from "../../../../shared/service/ops/operations_routes.ts";
import { createMetrics } from "../../../../shared/service/ops/metrics.ts";
import { summariseConfig } from "../../../../shared/service/ops/start.ts";
import { about, routesOf } from "../../../fakes/routes.ts";
import { commandOf, runServiceCommand } from "../../../fakes/service_process.ts";
import { withFolder } from "../../../fakes/with_folder.ts";

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

Deno.test("GET / lists the routes by path and summary, or as the route says", async () => {
  const [first, second] = routesOf({
    "GET /things/:id": () => new Response(),
    "POST /things": () => new Response(),
  });
  const routes = [
    { ...first!, summary: "One thing", index: { query: "format=json" } },
    { ...second!, summary: "Create a thing", index: { text: "send {name}" } },
  ];
  const index = createIndexRoute(about, { routes, more: () => ({ tools: 2 }) });
  const config = parseConfig(z.object(commonVariables), {});
  const service = createService([index, ...routes], { about, config, log: silentLogger });
  const response = await service(new Request("http://127.0.0.1/"));
  assertEquals(await response.json(), {
    name: about.name,
    about: about.description,
    endpoints: { "GET /things/{id}?format=json": "one thing", "POST /things": "send {name}" },
    tools: 2,
  });
});

const summarise = (config: Record<string, unknown>) => summariseConfig(config, { API_KEYS: [] });

Deno.test("keys are shown by their number, and API_KEYS=none as what it is", () => {
  assertEquals(summarise({ API_KEYS: ["ada:k1", "bob:k2"] }), { API_KEYS: "2 set" });
  assertEquals(summarise({ API_KEYS: ["none"] }), { API_KEYS: "none" });
  assertEquals(summarise({ API_KEYS: ["none", "ada:k1"] }), { API_KEYS: "1 set" });
  assertEquals(summarise({ API_KEYS: [] }), {});
});

Deno.test("credentials are shown by their origins", () => {
  const EVAL_CREDENTIALS = { "https://a.example": "k" };
  assertEquals(summarise({ EVAL_CREDENTIALS }), { EVAL_CREDENTIALS: "set for https://a.example" });
});

for (const service of ["agent", "eval"] as const) {
  const name = `assay-${service}`;

  Deno.test(`${name} --help says how it is used and configured`, async () => {
    const { code, output } = await runServiceCommand(service, ["--help"]);
    assertEquals(code, 0);
    assertStringIncludes(output, "--check");
    assertStringIncludes(output, service === "agent" ? "AGENT_PORT" : "EVAL_DATA");
    assertStringIncludes(output, ".env");
  });

  Deno.test(`${name} --version says what it is`, async () => {
    const { code, output } = await runServiceCommand(service, ["--version"]);
    assertEquals(code, 0);
    assertMatch(output, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(.+\\), deno \\d`));
  });

  Deno.test(`${name} --check prints the configuration without secrets, and exits`, async () => {
    const { code, output } = await runServiceCommand(service, ["--check"], {
      API_KEYS: "ada:planted-secret,bob:other-secret",
      HUB_API_KEY: "planted-secret",
      EVAL_CREDENTIALS: '{"https://api.example.com": "planted-secret"}',
      HUB_BASE_URL: "https://hub.example/v1?key=planted-secret",
      STUDIO_BASE_URL: "https://user:planted-secret@studio.example/v1",
      RATE_LIMIT: "60/min",
    });
    assertEquals(code, 0);
    assertStringIncludes(output, "the configuration is valid");
    assertStringIncludes(output, "API_KEYS: 2 set");
    assert(!output.includes("secret"), output);
  });

  Deno.test(`${name} --check of an invalid configuration exits with 1 and names the variable`, async () => {
    const bad = await runServiceCommand(service, ["--check"], { RATE_LIMIT: "fast" });
    assertEquals(bad.code, 1);
    assertStringIncludes(bad.output, "RATE_LIMIT");
    const unsafe = await runServiceCommand(service, ["--check"], { HOST: "0.0.0.0" });
    assertEquals(unsafe.code, 1);
    assertStringIncludes(unsafe.output, "API_KEYS");
  });
}

Deno.test("--check warns of short keys by name, as the start does", async () => {
  const { output } = await runServiceCommand("agent", ["--check"], { API_KEYS: "ci:short-key" });
  assertStringIncludes(output, "warning: API_KEYS contains keys of fewer than 16 characters");
  assertStringIncludes(output, "which can be guessed: ci");
  assert(!output.includes("short-key"), output);
});

Deno.test("an unexpected argument is named, and the help follows", async () => {
  const { code, output } = await runServiceCommand("agent", ["--sevre"]);
  assertEquals(code, 1);
  assertStringIncludes(output, '"--sevre"');
  assertStringIncludes(output, "--help");
});

Deno.test("a second argument is not ignored: it is help, or it is named", async () => {
  for (const service of ["agent", "eval"] as const) {
    const help = await runServiceCommand(service, ["--check", "--help"]);
    assertEquals(help.code, 0);
    assertStringIncludes(help.output, "print this help");
    const extra = await runServiceCommand(service, ["--check", "extra"]);
    assertEquals(extra.code, 1);
    assertStringIncludes(extra.output, 'unexpected argument "extra"');
  }
});

Deno.test("a .env in UTF-16, as some editors save it, is not read as an empty one", () =>
  withFolder(async (cwd) => {
    const text = [..."\ufeffLOG_LEVEL=debug\n"].map((letter) => letter.charCodeAt(0));
    await Deno.writeFile(`${cwd}/.env`, new Uint8Array(new Uint16Array(text).buffer));
    const args = [...commandOf("agent"), "--check"];
    const { code, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd }).output();
    assertEquals(code, 1);
    assertStringIncludes(new TextDecoder().decode(stderr), ".env in the working folder");
  }));

Deno.test("an address that cannot be listened on is named with HOST, not with the port", async () => {
  // 192.0.2.1 is reserved for documents: no machine has it.
  const { code, output } = await runServiceCommand("agent", [], {
    HOST: "192.0.2.1",
    API_KEYS: "none",
    AGENT_PORT: "0",
  });
  assertEquals(code, 1);
  assertStringIncludes(output, "see HOST");
});
