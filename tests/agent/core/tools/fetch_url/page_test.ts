import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { brotliCompressSync, deflateRawSync, gzipSync } from "node:zlib";
import { createPageConverter } from "../../../../../agent/core/tools/fetch_url.ts";
import { COMPUTE_ONLY } from "../../../../../shared/service/worker_call.ts";
import { isAbort } from "../../../../../shared/service/errors.ts";
import { createPublicFetch } from "../../../../../shared/http/public_fetch.ts";
import {
  createTool,
  html,
  PATIENT,
  read,
  refusal,
  siteUrl,
  toolOf,
} from "../../../../fakes/fetch_url_tool.ts";
import { type Answer, raw, startProviderDouble } from "../../../../fakes/provider_double.ts";
// the client of public addresses has timers that outlive a test
import { test } from "../../../../fakes/leaky.ts";

test("an HTML page is returned as text", async () => {
  const text = await read(html(
    "<html><head><title>T</title><style>x{}</style></head><body><h1>News</h1>" +
      "<script>steal()</script><p>It   rains &amp; pours.</p></body></html>",
  ));
  assertEquals(text, "News\n\nIt rains & pours.");
});

test("a table is returned row by row", async () => {
  const table = "<table><tr><th>City</th> <th>Rain</th></tr>" +
    "<tr><td>Oslo</td><td>3 mm</td></tr></table>";
  assertEquals(await read(html(table)), "City | Rain\nOslo | 3 mm");
});

test("no page blocks the service, however wide, deep or long its HTML is", async () => {
  const pages = [
    '<table><tr><td colspan="1000000" rowspan="1000000">x</td></tr></table>',
    "<div>".repeat(200_000),
    "<table><tr><td>".repeat(66_000),
    '<a href="/a">b</a>'.repeat(55_000),
    "<p>a".repeat(250_000),
  ];
  using converter = createPageConverter();
  await using double = await startProviderDouble(pages.map((page) => html(page)));
  const connect = createPublicFetch({
    resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
    isPublic: () => true,
  });
  const tool = createTool({ connect, converter });
  for (const _ of pages) {
    const text = await Promise.resolve(tool.run({ url: siteUrl(double) }, {})).catch(String);
    assert(text.length < 1_100_000, text.slice(0, 100));
  }
});

test("a page with too many tags is cut, with a note", async () => {
  const text = await read(html("<b>a</b>".repeat(10_000) + "<p>end"));
  assert(text.startsWith("aaa") && !text.includes("end"), text.slice(-80));
  assertStringIncludes(text, "more than 20000 tags");
});

test("HTML that the converter cannot handle is refused without the library's message", async () => {
  const told = await refusal(() => read(html('<ol type="i" start="100000000"><li>a</ol>')));
  assertStringIncludes(told, "cannot be turned into text");
});

test("relative links are resolved with the page's address after redirects", async () => {
  await using double = await startProviderDouble(html('<a href="next">more</a>'));
  const url = siteUrl(double, "/a/b");
  using tool = toolOf();
  assertEquals(await tool.run({ url }, {}), `more [${new URL("next", url)}]`);
});

test("text and JSON are returned as they are, decoded with their charset", async () => {
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
  test(`a page is decoded by ${what}`, async () => {
    assertEquals(await read(raw(bytes, { headers: { "content-type": type } })), text);
  });
}

const ENCODED: [encoding: string, bytes: Uint8Array][] = [
  ["br", brotliCompressSync("Hello")],
  ["GZIP", gzipSync("Hello")],
  ["deflate", deflateRawSync("Hello")],
];

for (const [encoding, bytes] of ENCODED) {
  test(`a page in ${encoding} is read, although it was not asked for in it`, async () => {
    const headers = { "content-type": "text/plain", "content-encoding": encoding };
    assertEquals(await read(raw(new Uint8Array(bytes), { headers })), "Hello");
  });
}

test("a page that is not in the encoding that it names is refused with that reason", async () => {
  const headers = { "content-type": "text/plain", "content-encoding": "gzip" };
  const said = await refusal(() => read(raw("plain", { headers })));
  assertStringIncludes(said, "the answer is not valid gzip");
});

test("a long page is cut at one megabyte, and an endless one is not read on", async () => {
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

test("a small page that unpacks into a large one is cut too", async () => {
  const packed = new Blob(["0".repeat(3_000_000)]).stream()
    .pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  const headers = { "content-type": "text/plain", "content-encoding": "gzip" };
  const text = await read(raw(bytes, { headers }));
  assert(text.length < 1_000_100, `${text.length}`);
});

test("the event loop is not blocked while a page is converted", async () => {
  using converter = createPageConverter(PATIENT);
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

test("a page that cannot be converted in time is refused, and the next one is read", async () => {
  const script = new URL("../../../../fakes/slow_page_worker.ts", import.meta.url);
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

test("a page is not converted if its caller has left", async () => {
  using converter = createPageConverter(PATIENT);
  const gone = new AbortController();
  const page = (html: string) => ({ html, url: "http://site.test/" });
  const first = converter.convert(page("<p>first"), new AbortController().signal);
  const second = converter.convert(page("<p>second"), gone.signal);
  gone.abort();
  assert(isAbort(await assertRejects(() => second)));
  assertEquals(await first, "first");
});
