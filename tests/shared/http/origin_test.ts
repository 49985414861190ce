import { assertEquals } from "@std/assert";
import { z } from "zod";
import { commonVariables, parseConfig } from "../../../shared/config/config.ts";
import type { Connection } from "../../../shared/http/server/connection.ts";
import { createService } from "../../../shared/http/server/service.ts";
import { silentLogger } from "../../../shared/log.ts";
import { about, routesOf } from "../../fakes/routes.ts";

/** Asks a service on a network, from an address. */
async function statusOf(
  { url, address = "203.0.113.7", environment = {}, headers }: {
    url: string;
    address?: string;
    environment?: Record<string, string>;
    headers: Record<string, string>;
  },
): Promise<number> {
  const service = createService(routesOf({ "POST /": () => new Response("ok") }), {
    about,
    config: parseConfig(z.object(commonVariables), {
      HOST: "0.0.0.0",
      API_KEYS: "none",
      ...environment,
    }),
    log: silentLogger,
  });
  const connection: Connection = { address, onClose: () => {} };
  const response = await service(new Request(url, { method: "POST", headers }), connection);
  await response.text();
  return response.status;
}

Deno.test("the service's own page is allowed under whatever name it was opened", async () => {
  const cases: [string, string, number][] = [
    ["http://assay.example:8000/", "http://assay.example:8000", 200],
    ["http://assay.example:8000/", "HTTP://ASSAY.example:8000", 200],
    ["http://assay.example:8000/", "https://assay.example:8000", 403],
    ["http://assay.example:8000/", "http://assay.example:8001", 403],
    ["http://assay.example:8000/", "http://evil.example", 403],
    ["http://assay.example:8000/", "null", 403],
  ];
  for (const [url, origin, expected] of cases) {
    assertEquals(await statusOf({ url, headers: { origin } }), expected, origin);
  }
});

Deno.test("behind a trusted proxy the page's public name is its origin; others cannot name it", async () => {
  const url = "http://127.0.0.1:8000/";
  const headers = {
    origin: "https://assay.example",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "assay.example",
  };
  const environment = { TRUSTED_PROXIES: "10.0.0.1" };
  const viaProxy = { url, environment, address: "10.0.0.1" };
  assertEquals(await statusOf({ ...viaProxy, headers }), 200);
  assertEquals(await statusOf({ ...viaProxy, address: "::ffff:10.0.0.1", headers }), 200);
  assertEquals(await statusOf({ url, environment, headers }), 403, "an address that is no proxy");
  assertEquals(await statusOf({ url, address: "10.0.0.1", headers }), 403, "no trusted proxies");
  const other = { ...headers, origin: "https://evil.example" };
  assertEquals(await statusOf({ ...viaProxy, headers: other }), 403);
  const kept = { origin: "https://assay.example", "x-forwarded-proto": "https" };
  const named = { ...viaProxy, url: "http://assay.example/" };
  assertEquals(await statusOf({ ...named, headers: kept }), 200, "the proxy keeps the host");
  for (const [port, expected] of [["443", 200], ["80", 403], ["8443", 403]] as const) {
    const withPort = { ...headers, "x-forwarded-host": `assay.example:${port}` };
    assertEquals(await statusOf({ ...viaProxy, headers: withPort }), expected, port);
  }
  const plain = {
    origin: "http://assay.example",
    "x-forwarded-proto": "http",
    "x-forwarded-host": "assay.example:80",
  };
  assertEquals(await statusOf({ ...viaProxy, headers: plain }), 200, "HTTP with its port");
  const forged = { ...headers, "x-forwarded-host": "evil.example, assay.example" };
  assertEquals(await statusOf({ ...viaProxy, headers: forged }), 200, "the proxy's value is last");
});
