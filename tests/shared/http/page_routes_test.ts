import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { commonVariables, parseConfig } from "../../../shared/config/config.ts";
import { PAGE_POLICY } from "../../../shared/http/router/page_routes.ts";
import { createService } from "../../../shared/http/server/service.ts";
import { silentLogger } from "../../../shared/log.ts";
import { about, routesOf } from "../../fakes/routes.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8";

function serviceOf(environment: Record<string, string> = {}) {
  return createService(
    routesOf({ "GET /": () => Response.json({ name: "index" }), "POST /": () => new Response() }),
    {
      about,
      config: parseConfig(z.object(commonVariables), environment),
      log: silentLogger,
      page: {
        title: "A page",
        scripts: {
          "app.js": 'import{a}from"./chunk-AAAA.js";a(()=>import("./rare-BBBB.js"))',
          "chunk-AAAA.js": "export let a=1",
          "rare-BBBB.js": 'import{a}from"./chunk-AAAA.js";console.log(2)',
        },
        style: "body{}",
      },
    },
  );
}

function ask(service: ReturnType<typeof serviceOf>, path: string, init: RequestInit = {}) {
  return service(new Request(`http://127.0.0.1:8000${path}`, init));
}

/** The addresses of the script and of the style that a shell names. */
function assetsOf(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) => match[1]!);
}

Deno.test("GET / answers a browser with the page and a program with JSON", async () => {
  const service = serviceOf();
  const cases: [string | undefined, RegExp][] = [
    [BROWSER, /^text\/html/],
    ["text/html", /^text\/html/],
    ["*/*", /^application\/json/],
    ["application/json", /^application\/json/],
    ["application/json, text/html;q=0.5", /^application\/json/],
    [undefined, /^application\/json/],
  ];
  for (const [accept, expected] of cases) {
    const response = await ask(service, "/", accept ? { headers: { accept } } : {});
    await response.text();
    assertMatch(response.headers.get("content-type") ?? "", expected, accept);
    assertEquals(response.headers.get("vary"), "accept, origin");
  }
});

Deno.test("the page has its own policy, and the JSON beside it keeps the strict one", async () => {
  const service = serviceOf();
  const page = await ask(service, "/ui/some/view?filter=x");
  assertEquals(
    page.headers.get("content-security-policy"),
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
      "img-src 'self' data:; require-trusted-types-for 'script'; base-uri 'none'; " +
      "form-action 'none'; frame-ancestors 'none'",
  );
  assertEquals(page.headers.get("content-security-policy"), PAGE_POLICY);
  const html = await page.text();
  assertEquals(/<script(?![^>]*src=)|\sstyle=|<style|\son\w+=/i.test(html), false, html);
  const json = await ask(service, "/");
  assertStringIncludes(json.headers.get("content-security-policy")!, "default-src 'none'; base");
  await json.text();
});

Deno.test("the shell is asked for each time, and answered with 304 if it is the same", async () => {
  const service = serviceOf();
  for (const path of ["/ui/a", "/docs", "/"]) {
    const headers = { accept: BROWSER };
    const first = await ask(service, path, { headers });
    assertEquals(first.headers.get("cache-control"), "no-cache");
    const etag = first.headers.get("etag")!;
    await first.text();
    const second = await ask(service, path, { headers: { ...headers, "if-none-match": etag } });
    assertEquals([second.status, await second.text()], [304, ""]);
    const other = await ask(service, path, { headers: { ...headers, "if-none-match": '"x"' } });
    assertEquals(other.status, 200);
    await other.text();
  }
});

Deno.test("assets are kept for a year under the hash of their contents, and compressed", async () => {
  const service = serviceOf();
  const assets = assetsOf(await (await ask(service, "/docs")).text());
  assertEquals(assets.length, 3);
  for (const path of assets) {
    assertMatch(path, /^\/assets\/(app\.[\da-f]{16}\.(js|css)|chunk-AAAA\.js)$/);
    const plain = await ask(service, path);
    assertEquals(plain.headers.get("cache-control"), "public, max-age=31536000, immutable");
    assertEquals(plain.headers.get("content-encoding"), null);
    const text = await plain.text();
    const small = await ask(service, path, { headers: { "accept-encoding": "gzip, br" } });
    assertEquals(small.headers.get("content-encoding"), "gzip");
    assertEquals(new TextDecoder().decode(gunzipSync(await small.bytes())), text);
  }
  const gone = await ask(service, "/assets/app.0000000000000000.js");
  assertEquals([gone.status, (await gone.json()).code], [404, "not_found"]);
});

Deno.test("the shell names what its script needs at once, and not what is loaded on demand", async () => {
  const service = serviceOf();
  const html = await (await ask(service, "/ui/any")).text();
  const preloaded = [...html.matchAll(/modulepreload" href="([^"]+)"/g)].map((match) => match[1]);
  assertEquals(preloaded, ["/assets/chunk-AAAA.js"]);
  const rare = await ask(service, "/assets/rare-BBBB.js");
  assertEquals(await rare.text(), 'import{a}from"./chunk-AAAA.js";console.log(2)');
});

Deno.test("the page and what it loads need no key, but the data does", async () => {
  const service = serviceOf({ API_KEYS: "secret" });
  const status = async (path: string, init: RequestInit = {}) => {
    const response = await ask(service, path, init);
    await response.text();
    return response.status;
  };
  const [asset = ""] = assetsOf(await (await ask(service, "/docs")).text());
  assertEquals(await status("/", { headers: { accept: BROWSER } }), 200);
  assertEquals(await status("/ui/x"), 200);
  assertEquals(await status(asset), 200);
  assertEquals(await status("/"), 401);
  assertEquals(await status("/", { method: "POST", headers: { accept: BROWSER } }), 401);
  assertEquals(await status("/", { headers: { "x-api-key": "secret" } }), 200);
});
