import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { isAbort } from "../../../shared/errors.ts";
import { createPublicFetch } from "../../../shared/http/fetch/public_fetch.ts";
import { createTool, html, read, refusal, siteUrl, toolOf } from "../../fakes/fetch_url_tool.ts";
import { hang, raw, startProviderDouble } from "../../fakes/provider_double.ts";

const PUBLIC = "93.184.215.14";

Deno.test("a URL that is too long is refused, also in a redirect", async () => {
  const long = `/${"a".repeat(3_000)}`;
  assertStringIncludes(await refusal(() => read(html("x"), long)), "over 2048 characters");
  const redirect = () => new Response(null, { status: 302, headers: { location: long } });
  assertStringIncludes(await refusal(() => read(redirect)), "over 2048 characters");
});

Deno.test("content that is not text, error statuses and invalid URLs are refused", async () => {
  assertStringIncludes(
    await refusal(() => read(html("x", "image/png"))),
    "image/png is not text",
  );
  assertStringIncludes(await refusal(() => read(raw(new Uint8Array(1)))), "is not text");
  assertStringIncludes(
    await refusal(() => read(raw("gone", { status: 404 }))),
    "status 404",
  );
  const run = (url: string) => refusal(async () => await toolOf().run({ url }, {}));
  assertStringIncludes(await run("file:///etc/passwd"), "only http and https");
  assertStringIncludes(await run("gopher://x"), "only http and https");
  assertStringIncludes(await run("nonsense"), "not an absolute URL");
  assertStringIncludes(await run("http://u:p@site.test/"), "password");
});

Deno.test("private, loopback, link-local and metadata addresses are refused, however written", async () => {
  const hosts = [
    "127.0.0.1",
    "localhost",
    "0.0.0.0",
    "10.0.0.8",
    "172.16.3.4",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "224.0.0.1",
    "2130706433",
    "0x7f.1",
    "[::1]",
    "[::]",
    "[fe80::1]",
    "[fd00::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::7f00:1]",
  ];
  const tool = createTool();
  for (const host of hosts) {
    const told = await refusal(async () => await tool.run({ url: `http://${host}/` }, {}));
    assertStringIncludes(told, "not public", host);
  }
});

Deno.test("a host is refused if any of its addresses is not public", async () => {
  await using double = await startProviderDouble(html("inside"));
  const tool = toolOf(() => [PUBLIC, "10.0.0.8"]);
  const told = await refusal(async () => await tool.run({ url: siteUrl(double) }, {}));
  assertStringIncludes(told, "not public");
  assertEquals(double.requests.length, 0);
});

Deno.test("each redirect is checked as the first address was", async () => {
  const port = (origin: string) => new URL(origin).port;
  await using inside = await startProviderDouble(html("the secret"));
  for (const target of [`http://10.0.0.8/`, `http://inside.test:${port(inside.origin)}/`]) {
    const redirect = () => new Response(null, { status: 302, headers: { location: target } });
    await using outside = await startProviderDouble(redirect);
    const tool = toolOf((name) => name === "site.test" ? ["127.0.0.1"] : ["192.168.0.9"]);
    const told = await refusal(async () => await tool.run({ url: siteUrl(outside) }, {}));
    assertStringIncludes(told, "not public");
    assertEquals(outside.requests.length, 1);
  }
  assertEquals(inside.requests.length, 0);
});

Deno.test("a redirect to another scheme is refused, one within the site is followed", async () => {
  const to = (location: string) => () => new Response(null, { status: 302, headers: { location } });
  assertStringIncludes(await refusal(() => read(to("file:///etc/passwd"))), "only http and https");
  assertEquals(await read([to("/next"), html("there", "text/plain")]), "there");
  assertStringIncludes(await refusal(() => read(to("/again"))), "more than 5 redirects");
});

Deno.test("a host is looked up once, so it cannot change its address after the check", async () => {
  await using inside = await startProviderDouble(html("the secret", "text/plain"));
  // The first lookup returns a public address, a second one would return a private address.
  const answers = [PUBLIC, "127.0.0.1"];
  let asked = 0;
  const tool = createTool({
    connect: createPublicFetch({
      resolve: () => {
        const address = answers[Math.min(asked++, 1)]!;
        return Promise.resolve([{ address, family: 4 }]);
      },
    }),
    timeoutMs: 300,
  });
  await refusal(async () => await tool.run({ url: siteUrl(inside) }, {}));
  assertEquals([asked, inside.requests.length], [1, 0]);
});

Deno.test("a page that takes too long is given up", async () => {
  await using double = await startProviderDouble(hang());
  const tool = createTool({
    connect: createPublicFetch({
      resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
      isPublic: () => true,
    }),
    timeoutMs: 50,
  });
  const told = await refusal(async () => await tool.run({ url: siteUrl(double) }, {}));
  assertStringIncludes(told, "took too long");
  await double.aborted();
});

Deno.test("a caller that leaves closes the page's socket", async () => {
  await using double = await startProviderDouble(hang());
  const controller = new AbortController();
  const reading = toolOf().run({ url: siteUrl(double) }, { signal: controller.signal });
  await double.received();
  controller.abort(new DOMException("left", "AbortError"));
  assert(isAbort(await assertRejects(async () => await reading)));
  await double.aborted();
});
