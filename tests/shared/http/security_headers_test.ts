import { assertEquals } from "@std/assert";
import { z } from "zod";
import { commonVariables, parseConfig } from "../../../shared/config/config.ts";
import { AppError } from "../../../shared/errors.ts";
import { refuse } from "../../../shared/http/router/problem.ts";
import { createService } from "../../../shared/http/server/service.ts";
import { silentLogger } from "../../../shared/log.ts";
import { about, routesOf } from "../../fakes/routes.ts";

const service = createService(
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

const ask = (path: string, init: RequestInit = {}) =>
  service(new Request(`http://127.0.0.1${path}`, init));

const ANSWERS: Record<string, () => Response | Promise<Response>> = {
  "an answer": () => ask("/"),
  "a 404": () => ask("/nowhere"),
  "a 405": () => ask("/", { method: "POST" }),
  "a 500": () => ask("/broken"),
  "a 403": () => ask("/", { headers: { origin: "https://evil.example" } }),
  "a preflight": () =>
    ask("/", {
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
    assertEquals(headers.get("cache-control"), "no-store");
    assertEquals(headers.get("content-security-policy")?.startsWith("default-src 'none'"), true);
  });
}

Deno.test("a route may set its own policy", async () => {
  const { headers } = await ask("/page");
  assertEquals(headers.get("content-security-policy"), "default-src 'self'");
  assertEquals(headers.get("x-content-type-options"), "nosniff");
});
