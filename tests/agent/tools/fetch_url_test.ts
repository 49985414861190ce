import { brotliCompressSync, deflateRawSync, gzipSync } from "node:zlib";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createFetchUrl, type FetchUrlOptions } from "../../../agent/tools/fetch_url.ts";
import { createPageConverter } from "../../../agent/tools/fetch_url/page_converter.ts";
import { ToolError } from "../../../agent/tools/tool.ts";
import { COMPUTE_ONLY } from "../../../shared/background/worker_options.ts";
import { isAbort } from "../../../shared/errors.ts";
import { isPublicAddress } from "../../../shared/http/public_address.ts";
import { createPublicFetch } from "../../../shared/http/public_fetch.ts";
import { type Answer, hang, raw, startProviderDouble } from "../../fakes/provider_double.ts";

const PUBLIC = "93.184.215.14";

/** The tool as the service uses it, except for the given options. */
function createTool(options: Partial<FetchUrlOptions> = {}) {
  return createFetchUrl({
    fetch: createPublicFetch(),
    converter: createPageConverter(),
    ...options,
  });
}

/**
 * The tool with `site.test` as a public host that leads to the double. `resolve` answers in place of
 * DNS; 127.0.0.1 counts as public only as the address of that host.
 */
function toolOf(resolve: (hostname: string) => string[] = () => ["127.0.0.1"]) {
  const fetch = createPublicFetch({
    resolve: (hostname) =>
      Promise.resolve(resolve(hostname).map((address) => ({ address, family: 4 }))),
    isPublic: (address) => address === "127.0.0.1" || isPublicAddress(address),
  });
  return createTool({ fetch });
}

async function read(answers: Answer | Answer[], path = "/page"): Promise<string> {
  await using double = await startProviderDouble(answers);
  using tool = toolOf();
  return await tool.run({ url: siteUrl(double, path) }, {});
}

function siteUrl({ origin }: { origin: string }, path = "/"): string {
  return `http://site.test:${new URL(origin).port}${path}`;
}

async function refusal(work: () => Promise<string>): Promise<string> {
  return (await assertRejects(work, ToolError)).message;
}

const html = (body: string, type = "text/html; charset=utf-8") =>
  raw(body, { headers: { "content-type": type } });

Deno.test("an HTML page is returned as text", async () => {
  const text = await read(html(
    "<html><head><title>T</title><style>x{}</style></head><body><h1>News</h1>" +
      "<script>steal()</script><p>It   rains &amp; pours.</p></body></html>",
  ));
  assertEquals(text, "News\n\nIt rains & pours.");
});

Deno.test("a table is returned row by row", async () => {
  const table = "<table><tr><th>City</th> <th>Rain</th></tr>" +
    "<tr><td>Oslo</td><td>3 mm</td></tr></table>";
  assertEquals(await read(html(table)), "City | Rain\nOslo | 3 mm");
});

Deno.test("no page blocks the service, however wide, deep or long its HTML is", async () => {
  const pages = [
    '<table><tr><td colspan="1000000" rowspan="1000000">x</td></tr></table>',
    "<div>".repeat(200_000),
    "<table><tr><td>".repeat(66_000),
    '<a href="/a">b</a>'.repeat(55_000),
    "<p>a".repeat(250_000),
  ];
  using converter = createPageConverter();
  await using double = await startProviderDouble(pages.map((page) => html(page)));
  const fetch = createPublicFetch({
    resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
    isPublic: () => true,
  });
  const tool = createTool({ fetch, converter });
  for (const _ of pages) {
    const text = await Promise.resolve(tool.run({ url: siteUrl(double) }, {})).catch(String);
    assert(text.length < 1_100_000, text.slice(0, 100));
  }
});

Deno.test("the event loop is not blocked while a page is converted", async () => {
  using converter = createPageConverter();
  const convert = (html: string) =>
    converter.convert({ html, url: "http://site.test/" }, new AbortController().signal);
  await convert("<p>The worker is up.");
  let turns = 0;
  const turn = () => void (turns++, timer = setTimeout(turn, 0));
  let timer = setTimeout(turn, 0);
  await convert("<p>a <b>b</b>".repeat(6_000));
  clearTimeout(timer);
  assert(turns > 3, `${turns}`);
});

Deno.test("a page that cannot be converted in time is refused, and the next one is read", async () => {
  const script = new URL("../../fakes/slow_page_worker.ts", import.meta.url);
  const events: string[] = [];
  using converter = createPageConverter({
    timeoutMs: 3_000,
    onEvent: ({ kind }) => void events.push(kind),
    start: () => new Worker(script, COMPUTE_ONLY),
  });
  const convert = (html: string) =>
    converter.convert({ html, url: "http://site.test/" }, new AbortController().signal);
  const told = refusal(() => convert("endless"));
  assertEquals(await convert("<p>next"), "next");
  assertStringIncludes(await told, "takes too long");
  assertEquals(events, ["died", "restarted", "recovered"]);
});

Deno.test("a page is not converted if its caller has left", async () => {
  using converter = createPageConverter();
  const gone = new AbortController();
  const page = (html: string) => ({ html, url: "http://site.test/" });
  const first = converter.convert(page("<p>first"), new AbortController().signal);
  const second = converter.convert(page("<p>second"), gone.signal);
  gone.abort();
  assert(isAbort(await assertRejects(() => second)));
  assertEquals(await first, "first");
});

Deno.test("a URL that is too long is refused, also in a redirect", async () => {
  const long = `/${"a".repeat(3_000)}`;
  assertStringIncludes(await refusal(() => read(html("x"), long)), "over 2048 characters");
  const redirect = () => new Response(null, { status: 302, headers: { location: long } });
  assertStringIncludes(await refusal(() => read(redirect)), "over 2048 characters");
});

Deno.test("a page with too many tags is cut, with a note", async () => {
  const text = await read(html("<b>a</b>".repeat(10_000) + "<p>end"));
  assert(text.startsWith("aaa") && !text.includes("end"), text.slice(-80));
  assertStringIncludes(text, "more than 20000 tags");
});

Deno.test("HTML that the converter cannot handle is refused without the library's message", async () => {
  const told = await refusal(() => read(html('<ol type="i" start="100000000"><li>a</ol>')));
  assertStringIncludes(told, "cannot be turned into text");
});

Deno.test("relative links are resolved with the page's address after redirects", async () => {
  await using double = await startProviderDouble(html('<a href="next">more</a>'));
  const url = siteUrl(double, "/a/b");
  using tool = toolOf();
  assertEquals(await tool.run({ url }, {}), `more [${new URL("next", url)}]`);
});

Deno.test("text and JSON are returned as they are, decoded with their charset", async () => {
  assertEquals(await read(html('{"a": 1}', "application/json")), '{"a": 1}');
  const latin = Uint8Array.from([0x47, 0x72, 0xfc, 0xdf, 0x65]);
  const answer = raw(latin, { headers: { "content-type": "text/plain; charset=iso-8859-1" } });
  assertEquals(await read(answer), "Grüße");
});

const utf16 = (text: string) =>
  Uint8Array.from(text, (letter) => letter.charCodeAt(0)).reduce<number[]>(
    (bytes, code) => [...bytes, code, 0],
    [0xff, 0xfe],
  );

const latin = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

const CHARSETS: [what: string, type: string, bytes: Uint8Array<ArrayBuffer>, text: string][] = [
  ["a byte order mark", "text/plain", Uint8Array.from(utf16("Grüße")), "Grüße"],
  ["a header with single quotes", "text/plain; charset='latin1'", latin("Grüße"), "Grüße"],
  [
    "an XML declaration",
    "application/xml",
    latin('<?xml version="1.0" encoding="ISO-8859-1"?><a>Grüße</a>'),
    '<?xml version="1.0" encoding="ISO-8859-1"?><a>Grüße</a>',
  ],
  ["no UTF-16 that only a tag claims", "text/html", latin('<meta charset="utf-16">Hi'), "Hi"],
];

for (const [what, type, bytes, text] of CHARSETS) {
  Deno.test(`a page is decoded by ${what}`, async () => {
    assertEquals(await read(raw(bytes, { headers: { "content-type": type } })), text);
  });
}

const ENCODED: [encoding: string, bytes: Uint8Array][] = [
  ["br", brotliCompressSync("Hello")],
  ["GZIP", gzipSync("Hello")],
  ["deflate", deflateRawSync("Hello")],
];

for (const [encoding, bytes] of ENCODED) {
  Deno.test(`a page in ${encoding} is read, although it was not asked for in it`, async () => {
    const headers = { "content-type": "text/plain", "content-encoding": encoding };
    assertEquals(await read(raw(new Uint8Array(bytes), { headers })), "Hello");
  });
}

Deno.test("a page that is not in the encoding that it names is refused with that reason", async () => {
  const headers = { "content-type": "text/plain", "content-encoding": "gzip" };
  const said = await refusal(() => read(raw("plain", { headers })));
  assertStringIncludes(said, "the answer is not valid gzip");
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

Deno.test("a long page is cut at one megabyte, and an endless one is not read on", async () => {
  const endless: Answer = () => {
    const chunk = new TextEncoder().encode("word ".repeat(20_000));
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
    return new Response(body, { headers: { "content-type": "text/plain" } });
  };
  await using double = await startProviderDouble(endless);
  const text = await toolOf().run({ url: siteUrl(double) }, {});
  assert(text.length < 1_000_100 && text.length > 999_000, `${text.length}`);
  assertStringIncludes(text.slice(-80), "longer than 1000000 bytes");
  await double.aborted();
});

Deno.test("a small page that unpacks into a large one is cut too", async () => {
  const packed = new Blob(["0".repeat(3_000_000)]).stream()
    .pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  const headers = { "content-type": "text/plain", "content-encoding": "gzip" };
  const text = await read(raw(bytes, { headers }));
  assert(text.length < 1_000_100, `${text.length}`);
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
    fetch: createPublicFetch({
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
    fetch: createPublicFetch({
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
