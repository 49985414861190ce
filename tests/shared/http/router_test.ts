import { assert, assertEquals, assertMatch } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import { type Handler, router, type RouterOptions } from "../../../shared/http/router/router.ts";
import { createLogger } from "../../../shared/log.ts";
import { routesOf } from "../../fakes/routes.ts";

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
  assertEquals(lines.length, 1);
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
