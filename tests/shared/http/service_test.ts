import { assertEquals } from "@std/assert";
import { z } from "zod";
import { commonVariables, parseConfig } from "../../../shared/service/config.ts";
import { createService } from "../../../shared/http/service.ts";
import { silentLogger } from "../../../shared/service/log.ts";
import { about, routesOf } from "../../fakes/routes.ts";
// rate-limiter-flexible has a timer per caller, for the whole window
import { test } from "../../fakes/leaky.ts";

/** A service of one route, under a configuration. */
function serviceOf(environment: Record<string, string> = {}) {
  const config = parseConfig(z.object(commonVariables), environment);
  const routes = routesOf({ "GET /": () => new Response("ok") });
  return createService(routes, { about, config, log: silentLogger });
}

async function ask(
  service: ReturnType<typeof serviceOf>,
  { url = "http://127.0.0.1:8000/", ...init }: { url?: string } & RequestInit = {},
) {
  const response = await service(new Request(url, init));
  const text = await response.text();
  const code = response.status >= 400 ? JSON.parse(text).code : text;
  return { status: response.status, code, headers: response.headers };
}

test("on loopback only loopback names reach the service", async () => {
  const service = serviceOf();
  for (const host of ["127.0.0.1:8000", "localhost:8000", "LOCALHOST", "[::1]:8000", "127.1.2.3"]) {
    assertEquals((await ask(service, { url: `http://${host}/` })).status, 200, host);
  }
  for (
    const host of ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1"]
  ) {
    const { status, code } = await ask(service, { url: `http://${host}/` });
    assertEquals([status, code], [403, "forbidden_host"], host);
  }
});

test("a service on a network answers to any name", async () => {
  const service = serviceOf({ HOST: "0.0.0.0", API_KEYS: "none" });
  assertEquals((await ask(service, { url: "http://assay.example/" })).status, 200);
});

test("pages of listed origins are served, others are refused, programs have none", async () => {
  const service = serviceOf({
    CORS_ORIGINS: "http://localhost:*, https://app.example, https://*.team.example",
  });
  const cases: [string | undefined, number][] = [
    [undefined, 200],
    ["http://localhost", 200],
    ["http://localhost:5173", 200],
    ["https://app.example", 200],
    ["https://a.team.example", 200],
    ["https://app.example.evil.example", 403],
    ["https://appXexample", 403],
    ["http://app.example", 403],
    ["http://localhost.evil.example", 403],
    ["http://localhost:evil", 403],
    ["https://team.example", 403],
    ["null", 403],
  ];
  for (const [origin, expected] of cases) {
    const { status, code, headers } = await ask(service, origin ? { headers: { origin } } : {});
    assertEquals(status, expected, origin);
    assertEquals(headers.get("vary"), "origin");
    if (expected === 403) assertEquals(code, "forbidden_origin");
    const allowed = expected === 200 ? origin ?? null : null;
    assertEquals(headers.get("access-control-allow-origin"), allowed);
  }
});

test("CORS_ORIGINS=* serves every page", async () => {
  const service = serviceOf({ CORS_ORIGINS: "*" });
  assertEquals((await ask(service, { headers: { origin: "https://any.example" } })).status, 200);
});

test("a preflight from a listed origin is answered without a key", async () => {
  const service = serviceOf({ API_KEYS: "k1" });
  const headers = { origin: "http://localhost:5173", "access-control-request-method": "POST" };
  const answer = await ask(service, { method: "OPTIONS", headers });
  assertEquals(answer.status, 204);
  assertEquals(answer.headers.has("access-control-allow-headers"), false, "none was asked for");
  assertEquals(answer.headers.get("access-control-allow-origin"), headers.origin);

  const evil = { ...headers, origin: "https://evil.example" };
  const refused = await ask(service, { method: "OPTIONS", headers: evil });
  assertEquals([refused.status, refused.code], [403, "forbidden_origin"]);
});

test("a page of a listed origin may send the headers that its client wants to", async () => {
  const preflight = async (origin: string, asked: string) => {
    const headers = {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": asked,
    };
    const answer = await ask(serviceOf(), { method: "OPTIONS", headers });
    return answer.headers.get("access-control-allow-headers");
  };
  const wanted = "authorization,content-type,x-model-id,x-stainless-arch,x-stainless-retry-count";
  const page = "http://localhost:5173";
  assertEquals(await preflight(page, wanted), wanted.replaceAll(",", ", "));
  assertEquals(await preflight(page, 'x-good, b@d, "x", , a b'), "x-good");
  assertEquals(await preflight("https://evil.example", wanted), null);
});

test("if keys are set a caller needs one, as a bearer token or as x-api-key", async () => {
  const service = serviceOf({ API_KEYS: "key-one, key-two" });
  const cases: [Record<string, string>, number][] = [
    [{ authorization: "Bearer key-one" }, 200],
    [{ authorization: "bearer   key-two" }, 200],
    [{ "x-api-key": "key-two" }, 200],
    [{}, 401],
    [{ authorization: "Bearer key-three" }, 401],
    [{ authorization: "Bearer key-on" }, 401],
    [{ authorization: "Basic key-one" }, 401],
    [{ "x-api-key": "" }, 401],
    [{ "x-api-key": "key-one, key-two" }, 401],
  ];
  for (const [headers, expected] of cases) {
    const answer = await ask(service, { headers });
    assertEquals(answer.status, expected, JSON.stringify(headers));
    if (expected === 401) {
      assertEquals(answer.code, "unauthorized");
      assertEquals(answer.headers.get("www-authenticate"), "Bearer");
    }
  }
});

test("without keys, and with API_KEYS=none, nobody needs one", async () => {
  for (const environment of [{}, { API_KEYS: "none" }]) {
    assertEquals((await ask(serviceOf(environment))).status, 200);
  }
});

test("a route may need no key and still count in the limits, and the other way round", async () => {
  const ok = () => new Response("ok");
  const routes = [
    ...routesOf({ "GET /page": ok }, { needsKey: false }),
    ...routesOf({ "GET /probe": ok }, { limited: false }),
  ];
  const config = parseConfig(z.object(commonVariables), { API_KEYS: "k", RATE_LIMIT: "2/min" });
  const service = createService(routes, { about, config, log: silentLogger });
  const statuses = async (path: string, headers: Record<string, string> = {}) => {
    const url = `http://127.0.0.1:8000${path}`;
    const seen: number[] = [];
    for (let count = 0; count < 3; count++) {
      seen.push((await ask(service, { url, headers })).status);
    }
    return seen;
  };
  assertEquals(await statuses("/page"), [200, 200, 429]);
  assertEquals(await statuses("/probe"), [401, 401, 401]);
  assertEquals(await statuses("/probe", { "x-api-key": "k" }), [200, 200, 200]);
});
