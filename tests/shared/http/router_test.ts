import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { z } from "zod";
import { commonVariables, parseConfig } from "../../../shared/service/config.ts";
import { AppError, type ErrorCode } from "../../../shared/service/errors.ts";
import { parseCallerKeys } from "../../../shared/http/guards.ts";
import { refuse, toProblem } from "../../../shared/http/answer.ts";
import { type Handler, router, type RouterOptions } from "../../../shared/http/router.ts";
import { wantsEvents } from "../../../shared/http/headers.ts";
import { createAdmission, createLocalConnection } from "../../../shared/http/connection.ts";
import { createService } from "../../../shared/http/service.ts";
import { createLogger, silentLogger } from "../../../shared/service/log.ts";
import { createMetrics } from "../../../shared/service/ops/metrics.ts";
import { about, routesOf } from "../../fakes/routes.ts";

function service(
  routes: Record<string, Handler>,
  options: Partial<RouterOptions> = {},
) {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const log = createLogger({ level: "info", format: "json", write });
  return { handle: router(routesOf(routes), { log, ...options }), lines };
}

function ask(path: string, init: RequestInit = {}): Request {
  return new Request(`http://127.0.0.1${path}`, init);
}

Deno.test("a request reaches the route of its method and path, with the path's values", async () => {
  const { handle } = service({
    "GET /things/:id": (_, { params }) => Response.json(params),
    "POST /things/:id": () => new Response("posted"),
  });
  assertEquals(await (await handle(ask("/things/a-b?x=1"))).json(), { id: "a-b" });
  assertEquals(await (await handle(ask("/things/1", { method: "POST" }))).text(), "posted");
});

Deno.test("HEAD is answered by the GET route", async () => {
  const { handle } = service({ "GET /": () => new Response("x") });
  assertEquals((await handle(ask("/", { method: "HEAD" }))).status, 200);
});

Deno.test("a path with too little, too much or a slash at its end is told which one was meant", async () => {
  const { handle } = service({
    "GET /": () => new Response(),
    "POST /v1/chat/completions": () => new Response(),
    "GET /v1/models": () => new Response(),
    "GET /studio/models": () => new Response(),
    "GET /v1/models/*id": () => new Response(),
  });
  const cases = [
    ["/chat/completions", "; did you mean /v1/chat/completions?"],
    ["/v1/v1/chat/completions", "; did you mean /v1/chat/completions?"],
    ["/v1/chat/completions/", "; did you mean /v1/chat/completions?"],
    ["/models", "; did you mean /v1/models or /studio/models?"],
    ["/completions2", ""],
    ["/completions/2", ""],
  ];
  for (const [path, hint] of cases) {
    const { detail } = await (await handle(ask(path!))).json();
    assertEquals(detail, `cannot find ${path}: there is no such route${hint}`);
  }
});

Deno.test("an unknown path is 404 and a wrong method is 405 with Allow", async () => {
  const { handle } = service({ "GET /a": () => new Response(), "POST /a": () => new Response() });
  const unknown = await handle(ask("/b"));
  assertEquals([unknown.status, (await unknown.json()).code], [404, "not_found"]);
  const wrong = await handle(ask("/a", { method: "DELETE" }));
  assertEquals([wrong.status, (await wrong.json()).code], [405, "method_not_allowed"]);
  assertEquals(wrong.headers.get("allow"), "GET, HEAD, POST");
});

Deno.test("Allow names HEAD where there is GET, and each method once", async () => {
  const { handle } = service({
    "GET /a/b": () => new Response(),
    "GET /a/:id": () => new Response(),
    "DELETE /a/:id": () => new Response(),
    "POST /c": () => new Response(),
  });
  const allowed = async (path: string, method: string) =>
    (await handle(ask(path, { method }))).headers.get("allow");
  assertEquals(await allowed("/a/b", "PUT"), "GET, HEAD, DELETE");
  assertEquals(await allowed("/c", "HEAD"), "POST");
});

Deno.test("an AppError is answered with its message and headers", async () => {
  const { handle, lines } = service({
    "GET /": () => {
      throw new AppError(429, "rate_limited", "too fast", { headers: { "retry-after": "3" } });
    },
  });
  const response = await handle(ask("/", { headers: { "x-request-id": "r-1" } }));
  assertEquals(response.headers.get("retry-after"), "3");
  assertEquals(await response.json(), {
    type: "about:blank",
    title: "Too Many Requests",
    status: 429,
    detail: "too fast",
    code: "rate_limited",
    request_id: "r-1",
  });
  assertEquals(lines.map(({ code }) => code), ["rate_limited"]);
});

Deno.test("any other error is an opaque 500, and the log has its name and place", async () => {
  const { handle, lines } = service({
    "GET /": () => {
      throw new TypeError("inside", { cause: new Error("deeper") });
    },
  });
  const response = await handle(ask("/"));
  const problem = await response.json();
  assertEquals([response.status, problem.code], [500, "internal"]);
  assert(!JSON.stringify(problem).includes("inside"));
  assertEquals(lines.length, 1);
  assertEquals([lines[0]?.level, lines[0]?.request_id], ["error", problem.request_id]);
  assertMatch(
    String(lines[0]?.error),
    /^TypeError at router_test.ts:\d+:\d+, caused by Error at router_test.ts:\d+:\d+$/,
  );
});

Deno.test("every answer has a request id: the caller's if it is valid, else a new one", async () => {
  const { handle } = service({ "GET /": () => new Response() });
  const idOf = async (given?: string) => {
    const headers: Record<string, string> = given === undefined ? {} : { "x-request-id": given };
    return (await handle(ask("/", { headers }))).headers.get("x-request-id") ?? "";
  };
  assertEquals(await idOf("abc-1.2:3_x"), "abc-1.2:3_x");
  const uuid = /^[0-9a-f-]{36}$/;
  for (const given of [undefined, "", "with blank", "x".repeat(129), "a\tb", "é"]) {
    assertMatch(await idOf(given), uuid);
  }
});

Deno.test("a guard refuses before an unknown route is answered", async () => {
  const { handle } = service({}, {
    guards: [() => {
      throw new AppError(401, "unauthorized", "who?");
    }],
  });
  assertEquals((await handle(ask("/nowhere"))).status, 401);
});

Deno.test("a handler that rejects because its client left is answered 499 and not logged as an error", async () => {
  const controller = new AbortController();
  const { handle, lines } = service({
    "GET /": async (request) => {
      controller.abort();
      await Promise.resolve();
      request.signal.throwIfAborted();
      return new Response();
    },
  });
  const response = await handle(ask("/", { signal: controller.signal }));
  assertEquals(response.status, 499);
  assertEquals(lines.map(({ level, outcome }) => [level, outcome]), [["info", "client left"]]);
});

Deno.test("the headers of every answer are added to errors too", async () => {
  const { handle } = service({}, { responseHeaders: () => ({ vary: "origin" }) });
  assertEquals((await handle(ask("/nowhere"))).headers.get("vary"), "origin");
});

Deno.test("a request makes one log line, with what its handler adds", async () => {
  const { handle, lines } = service({
    "GET /": (_, { fields }) => {
      fields.model = "m";
      return new Response();
    },
  });
  await handle(ask("/?secret=1"));
  assertEquals(lines.length, 1);
  const { method, path, status, model } = lines[0]!;
  assertEquals([method, path, status, model], ["GET", "/", 200, "m"]);
});

Deno.test("the log line of a streamed answer is written at its end", async () => {
  for (const ending of ["resolve", "reject"] as const) {
    const end = Promise.withResolvers<void>();
    const { handle, lines } = service({
      "GET /": (_, { fields, logAfter }) => {
        logAfter(end.promise.finally(() => fields.tokens = 5));
        return new Response();
      },
    });
    await handle(ask("/"));
    await new Promise((resolve) => setTimeout(resolve, 20));
    assertEquals(lines, []);
    end[ending]();
    await new Promise((resolve) => setTimeout(resolve));
    assertEquals(lines.map(({ status, tokens }) => [status, tokens]), [[200, 5]]);
    assert(Number(lines[0]?.ms) >= 15);
  }
});

Deno.test("the log line of a HEAD request does not wait for the body", async () => {
  const { handle, lines } = service({
    "GET /": (_, { logAfter }) => {
      logAfter(new Promise(() => {}));
      return new Response("x");
    },
  });
  await handle(ask("/", { method: "HEAD" }));
  assertEquals(lines.length, 1);
});

function tableOf(...keys: string[]) {
  const answers = keys.map((key): [string, Handler] => [
    key,
    (_, { params }) => Response.json({ key, params }),
  ]);
  const { handle } = service(Object.fromEntries(answers));
  return async (method: string, path: string) => {
    const response = await handle(ask(path, { method }));
    return { allow: response.headers.get("allow"), ...await response.json() };
  };
}

Deno.test("the most exact path wins, in whatever order the routes are listed", async () => {
  const keys = ["GET /runs/*", "GET /runs/:id", "GET /runs/compare", "GET /runs/:id/events"];
  for (const listed of [keys, keys.toReversed()]) {
    const find = tableOf(...listed);
    assertEquals((await find("GET", "/runs/compare")).key, "GET /runs/compare");
    assertEquals((await find("GET", "/runs/7")).key, "GET /runs/:id");
    assertEquals((await find("GET", "/runs/7/events")).key, "GET /runs/:id/events");
    assertEquals((await find("GET", "/runs/7/other")).key, "GET /runs/*");
  }
});

Deno.test("a prefix takes everything below it, and says what that is", async () => {
  const find = tableOf("GET /assets/*", "GET /models/*id", "GET /a.b/:x/:y");
  assertEquals((await find("GET", "/models/acme/large")).params, { id: "acme/large" });
  assertEquals((await find("GET", "/assets/js/app.js")).params, { rest: "js/app.js" });
  assertEquals((await find("GET", "/a.b/1/%20")).params, { x: "1", y: "%20" });
  for (const path of ["/assets", "/assets/", "/other/assets/x", "/aXb/1/2", "/a.b/1", "/a.b/1/"]) {
    assertEquals((await find("GET", path)).code, "not_found", path);
  }
});

Deno.test("another method of a path is not found, and the path's own methods are listed", async () => {
  const find = tableOf("GET /runs/compare", "DELETE /runs/:id", "POST /runs/compare");
  assertEquals((await find("PUT", "/runs/compare")).allow, "GET, HEAD, POST, DELETE");
  assertEquals((await find("DELETE", "/runs/compare")).key, "DELETE /runs/:id");
});

Deno.test("a table with a duplicate or an unsupported path is refused", () => {
  const twice = [
    ...routesOf({ "GET /a": () => new Response() }),
    ...routesOf({ "GET /a": () => new Response() }),
  ];
  assertThrows(() => router(twice, { log: silentLogger }), Error, "two routes are GET /a");
  assertThrows(() => tableOf("GET /a/x-:id"), Error, '"x-:id"');
  assertThrows(() => tableOf("GET /a/*/b"), Error, '"*"');
});

Deno.test("a key may have a name; one without is named by its position", () => {
  assertEquals(parseCallerKeys(["ada:secret", "plain", "ci.v2:a:b", ":x", "1a:b"]), [
    { name: "ada", key: "secret" },
    { name: "key-2", key: "plain" },
    { name: "ci.v2", key: "a:b" },
    { name: "key-4", key: ":x" },
    { name: "key-5", key: "1a:b" },
  ]);
});

Deno.test("the log names the caller for old and new keys, and contains neither", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "json", write: (line) => lines.push(line) });
  const config = parseConfig(z.object(commonVariables), {
    API_KEYS: "ada:old-secret,ada:new-secret,bob:bobs-secret",
  });
  const service = createService(routesOf({ "GET /": () => new Response("ok") }), {
    about,
    config,
    log,
  });
  for (const key of ["old-secret", "new-secret", "bobs-secret", "ada:old-secret", "ada"]) {
    await service(
      new Request("http://127.0.0.1/", { headers: { authorization: `Bearer ${key}` } }),
    );
  }
  const seen = lines.map((line) => JSON.parse(line)).map(({ caller, status }) => [caller, status]);
  assertEquals(seen, [
    ["ada", 200],
    ["ada", 200],
    ["bob", 200],
    [undefined, 401],
    [undefined, 401],
  ]);
  assertEquals(lines.filter((line) => line.includes("secret")), []);
});

/** A watched service behind a server that takes one request at once. */
function serviceForOne() {
  const lines: string[] = [];
  const metrics = createMetrics({ runs: () => 0 });
  const admission = createAdmission({ what: "requests", max: 1 });
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
  assertEquals(detail, "too many requests: 1 are running; retry in 2 s");
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

Deno.test("a problem has a type, a title, its status, detail, code and request id", () => {
  const cases: [number, ErrorCode, string][] = [
    [400, "invalid_request", "Bad Request"],
    [401, "unauthorized", "Unauthorized"],
    [403, "endpoint_not_allowed", "Forbidden"],
    [404, "model_not_found", "Not Found"],
    [413, "body_too_large", "Content Too Large"],
    [415, "unsupported_media_type", "Unsupported Media Type"],
    [429, "rate_limited", "Too Many Requests"],
    [502, "provider_error", "Bad Gateway"],
    [503, "overloaded", "Service Unavailable"],
    [504, "provider_timeout", "Gateway Timeout"],
  ];
  for (const [status, code, title] of cases) {
    assertEquals(toProblem(new AppError(status, code, "why"), "r1"), {
      type: "about:blank",
      title,
      status,
      detail: "why",
      code,
      request_id: "r1",
    });
  }
});

const secured = createService(
  routesOf({
    "GET /": () => new Response("ok"),
    "GET /broken": () => {
      throw new Error("fault");
    },
    "GET /page": () =>
      new Response("<p>", { headers: { "content-security-policy": "default-src 'self'" } }),
  }),
  { about, config: parseConfig(z.object(commonVariables), {}), log: silentLogger },
);

const askSecured = (path: string, init: RequestInit = {}) =>
  secured(new Request(`http://127.0.0.1${path}`, init));

const ANSWERS: Record<string, () => Response | Promise<Response>> = {
  "an answer": () => askSecured("/"),
  "a 404": () => askSecured("/nowhere"),
  "a 405": () => askSecured("/", { method: "POST" }),
  "a 500": () => askSecured("/broken"),
  "a 403": () => askSecured("/", { headers: { origin: "https://evil.example" } }),
  "a preflight": () =>
    askSecured("/", {
      method: "OPTIONS",
      headers: { origin: "http://localhost:1", "access-control-request-method": "POST" },
    }),
  "a refusal before routing": () => refuse(new AppError(503, "overloaded", "full")),
};

for (const [what, answer] of Object.entries(ANSWERS)) {
  Deno.test(`${what} carries the security headers`, async () => {
    const { headers } = await answer();
    assertEquals(headers.get("x-content-type-options"), "nosniff");
    assertEquals(headers.get("x-frame-options"), "DENY");
    assertEquals(headers.get("referrer-policy"), "no-referrer");
    assertEquals(headers.get("cache-control"), "no-store, no-transform");
    assertEquals(headers.get("content-security-policy")?.startsWith("default-src 'none'"), true);
  });
}

Deno.test("a route may set its own policy", async () => {
  const { headers } = await askSecured("/page");
  assertEquals(headers.get("content-security-policy"), "default-src 'self'");
  assertEquals(headers.get("x-content-type-options"), "nosniff");
});

const CASES: [accept: string, events: boolean][] = [
  ["", false],
  ["text/event-stream", true],
  ["text/event-stream; charset=utf-8", true],
  ['text/event-stream;charset="UTF-8";q=0.9, application/json;q=0.5', true],
  ["application/json; charset=utf-8, text/event-stream;q=0.5", false],
  ["application/json, text/event-stream", false],
  ["*/*", false],
];

for (const [accept, events] of CASES) {
  Deno.test(`"accept: ${accept}" gets ${events ? "events" : "JSON"}`, () => {
    assertEquals(wantsEvents(new Request("http://h/", { headers: { accept } })), events);
  });
}
