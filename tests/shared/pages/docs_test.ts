import { assertEquals } from "@std/assert";
import { Lexer, type Token } from "marked";
import fc from "seeded-fast-check";
import {
  type ApiDocument,
  type ApiRoute,
  listRoutes,
  typeName,
} from "../../../shared/pages/docs/api_document.ts";
import {
  emptyForm,
  findMissing,
  toCurl,
  toTryRequest,
} from "../../../shared/pages/docs/try_request.ts";
import {
  formatAge,
  formatBytes,
  formatChosen,
  formatCompact,
  formatCount,
  formatDuration,
  formatMoney,
  formatNumberOf,
  formatScore,
} from "../../../shared/pages/format.ts";
import { giveKey, keyHeaders, keyRequest, requireKey } from "../../../shared/pages/key.ts";
import { matchPath } from "../../../shared/pages/location.ts";
import { readServerEvents } from "../../../shared/pages/server_events.ts";
import { decodeEntities } from "../../../shared/pages/components/markdown.tsx";
import { FORMULAS, FormulaTokenizer } from "../../../shared/pages/text/markdown_formulas.ts";
import { diffWords } from "../../../shared/pages/components/diff_text.tsx";

const document: ApiDocument = {
  info: { title: "t", version: "1" },
  paths: {
    "/runs/{id}": {
      get: { responses: {} },
      post: {
        parameters: [
          { in: "path", name: "id", required: true },
          { in: "query", name: "limit" },
          { in: "header", name: "x-model-id", required: true, schema: { example: "demo/a" } },
        ],
        requestBody: { content: { "application/json": { example: { a: "it's" } } } },
        responses: {
          200: { description: "ok", content: { "application/json": {}, "text/event-stream": {} } },
        },
      },
    },
  },
  components: { schemas: { Turn: { type: "object", properties: {} } } },
};
const route = listRoutes(document).get("Runs")![1] as ApiRoute;

Deno.test("types are named as people say them", () => {
  const turn = { $ref: "#/components/schemas/Turn" };
  assertEquals(typeName({ type: "array", items: turn }, document), "array of Turn");
  assertEquals(typeName({ anyOf: [turn, { type: "null" }] }, document), "Turn or null");
  assertEquals(typeName({ enum: ["a", "b"] }, document), '"a" or "b"');
  assertEquals(typeName({ type: "object", additionalProperties: turn }, document), "map of Turn");
});

Deno.test("a form begins with the examples, and knows what is missing", () => {
  const form = emptyForm(route);
  assertEquals(form, {
    values: { "header x-model-id": "demo/a" },
    body: '{\n  "a": "it\'s"\n}',
    accept: "application/json",
  });
  assertEquals(findMissing(route, form), ["id"]);
  assertEquals(findMissing(route, { ...form, values: {}, body: "{" }), [
    "id",
    "x-model-id",
    "body",
  ]);
});

Deno.test("a form becomes a request, and the same command for a shell", () => {
  const values = { "path id": "a/b", "query limit": "5", "header x-model-id": "m" };
  const request = toTryRequest(route, {
    values,
    body: '{"a":"it\'s"}',
    accept: "text/event-stream",
  });
  assertEquals(request, {
    method: "POST",
    path: "/runs/a%2Fb?limit=5",
    headers: { accept: "text/event-stream", "x-model-id": "m", "content-type": "application/json" },
    body: '{"a":"it\'s"}',
  });
  assertEquals(
    toCurl(request, "http://h"),
    "curl -s 'http://h/runs/a%2Fb?limit=5' \\\n  -H 'accept: text/event-stream' \\\n" +
      "  -H 'x-model-id: m' \\\n  -H 'content-type: application/json' \\\n  -d '{\"a\":\"it'\\''s\"}'",
  );
});

Deno.test("numbers, scores and counts are written as people read them", () => {
  assertEquals(formatCount(21248), "21,248");
  assertEquals(formatCompact(27327), "27.3K");
  assertEquals([formatScore(0.789), formatScore(1), formatScore(null)], ["0.79", "1.00", "–"]);
  assertEquals([formatScore(-0.07), formatScore(-3, 0)], ["−0.07", "−3"]);
  assertEquals([900, 2_149, 12_000_000].map(formatBytes), ["900 bytes", "2.15 kB", "12 MB"]);
  assertEquals(
    [0.000066, 0.5, 1234.5].map((amount) => formatMoney({ amount, currency: "USD" })),
    ["$0.000066", "$0.50", "$1,234.50"],
  );
  assertEquals(formatNumberOf(1, "model call"), "1 model call");
  assertEquals(formatNumberOf(2000, "reply", "replies"), "2,000 replies");
});

Deno.test("a number that somebody chose keeps its digits", () => {
  assertEquals([0.7, 0.725, 1, 0.005].map(formatChosen), ["0.70", "0.725", "1.00", "0.005"]);
});

Deno.test("durations have the unit that fits, and no sixtieth second", () => {
  const cases: [number, string][] = [
    [0, "0 ms"],
    [84.4, "84 ms"],
    [999.6, "1.0 s"],
    [9_940, "9.9 s"],
    [9_960, "10 s"],
    [41_230, "41 s"],
    [59_600, "1 min"],
    [185_000, "3 min 5 s"],
    [7_440_000, "2 h 4 min"],
  ];
  for (const [ms, expected] of cases) assertEquals(formatDuration(ms), expected);
});

Deno.test("ages are relative for a week, then dates", () => {
  const now = Date.UTC(2026, 10, 15, 12);
  assertEquals(formatAge(now - 20_000, now), "just now");
  assertEquals(formatAge(now - 5 * 60_000, now), "5 min. ago");
  assertEquals(formatAge(now - 26 * 3_600_000, now), "yesterday");
  assertEquals(formatAge(now - 30 * 86_400_000, now).includes("2026"), true);
});

Deno.test("a refusal that arrives after the key was given does not ask for it again", async () => {
  const first = requireKey({});
  assertEquals(keyRequest.value, { isRefused: false });
  giveKey(" right ");
  await first;
  await requireKey({}); // sent before, refused now
  assertEquals(keyRequest.value, undefined);

  const second = requireKey(keyHeaders());
  assertEquals(keyRequest.value, { isRefused: true });
  giveKey("better");
  await second;
  await requireKey({ "x-api-key": "right" });
  assertEquals(keyRequest.value, undefined);
});

Deno.test("a path is matched by its parts, and its parameters are decoded", () => {
  assertEquals(matchPath("/ui/runs/:id", "/ui/runs/r%20-1"), { id: "r -1" });
  assertEquals(matchPath("/ui/runs/:id", "/ui/runs/a%2Fb"), { id: "a/b" });
  assertEquals(matchPath("/ui/runs/:id", "/ui/runs"), undefined);
  assertEquals(matchPath("/ui/runs/:id", "/ui/runs/"), undefined);
  assertEquals(matchPath("/ui/runs/:id", "/ui/runs/1/2"), undefined);
  assertEquals(matchPath("/ui/runs/:id", "/ui/runs/%E0%A4%A"), undefined);
  assertEquals(matchPath("/", "/"), {});
});

Deno.test("character references become their characters, and unknown ones stay", () => {
  assertEquals(decodeEntities("a &amp; b &lt;c&gt; &#65;&#x42; &hellip;"), "a & b <c> AB …");
  assertEquals(decodeEntities("&unknown; & &#0; &#x110000;"), "&unknown; & \ufffd \ufffd");
  assertEquals(decodeEntities("auto f = &toString;"), "auto f = &toString;");
});

function lex(text: string): Token[] {
  return new Lexer({ extensions: FORMULAS, tokenizer: new FormulaTokenizer() }).lex(text);
}

/** The blocks of a text, each with its source, or with what is shown of a formula. */
function blocksOf(text: string): string[] {
  return lex(text).filter(({ type }) => type !== "space").map((token) =>
    `${token.type}: ${token.type === "formula" ? token.text : token.raw.trim()}`
  );
}

/** The types of what a sentence is made of. */
function partsOf(text: string): string {
  const [paragraph] = lex(text);
  const tokens = (paragraph as { tokens: Token[] }).tokens;
  return tokens.map(({ type, raw }) => type === "formula" ? `formula ${raw}` : type).join(", ");
}

Deno.test("a formula is found directly below a line of text and above one", () => {
  for (const [open, close] of [["\\[", "\\]"], ["$$", "$$"]]) {
    const formula = "x = \\{a\\} \\\\[2pt]\n- c\n=\nd";
    assertEquals(blocksOf(`We get:\n${open}\n${formula}\n${close}\nfor all a`), [
      "paragraph: We get:",
      `formula: ${formula}`,
      "paragraph: for all a",
    ]);
  }
});

Deno.test("a formula in a sentence keeps its signs, and escaped parentheses of prose stay prose", () => {
  assertEquals(partsOf(String.raw`With \(x_1 \* y\)`), String.raw`text, formula \(x_1 \* y\)`);
  assertEquals(partsOf(String.raw`Call it \(optional\)`), "text, escape, text, escape");
});

Deno.test("what is no whole formula of its own lines stays Markdown", () => {
  const texts = [
    String.raw`\[TODO\]`,
    "We get\n\\[\nx = 1",
    String.raw`\[a_1\] and \[b_1\] are two`,
    "$$ a_1 $$ is one",
  ];
  for (const text of texts) assertEquals(blocksOf(text), [`paragraph: ${text}`]);
  assertEquals(blocksOf("\\[ x = 1\n\n2 \\]"), ["paragraph: \\[ x = 1", "paragraph: 2 \\]"]);
});

Deno.test("a text that begins a formula again and again is read from its last beginning", () => {
  assertEquals(partsOf(String.raw`\(a \(b_1\)`), String.raw`escape, text, formula \(b_1\)`);
  assertEquals(blocksOf("\\[ a = 1\n\\[ b = 2 \\]"), ["paragraph: \\[ a = 1", "formula: b = 2"]);
});

function streamOf(...pieces: string[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  return ReadableStream.from(pieces.map((piece) => encoder.encode(piece)));
}

Deno.test("events are read with their names and ids, wherever the stream is cut", async () => {
  const text = "id: 7\nevent: turn\ndata: {\ndata: }\n\n: comment\n\ndata: last\r\n\r\ndata: cut";
  const expected = [
    { name: "turn", data: "{\n}", id: "7" },
    { name: "message", data: "last" },
  ];
  for (let at = 0; at <= text.length; at++) {
    const stream = streamOf(text.slice(0, at), text.slice(at));
    assertEquals(await Array.fromAsync(readServerEvents(stream)), expected, `cut at ${at}`);
  }
});

Deno.test("words that differ are marked, and only those", () => {
  assertEquals(diffWords("within 30 days", "within 14 days"), [
    { kind: "same", text: "within " },
    { kind: "removed", text: "30" },
    { kind: "added", text: "14" },
    { kind: "same", text: " days" },
  ]);
});

Deno.test("languages without blanks are compared by words too", () => {
  const parts = diffWords("今天天气很好", "今天天气不好");
  assertEquals(parts[0]?.kind, "same");
  assertEquals(parts[0]?.text.startsWith("今天"), true);
});

Deno.test("the parts give both texts back", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), fc.string(), (before, after) => {
    const parts = diffWords(before, after);
    const without = (kind: string) =>
      parts.filter((part) => part.kind !== kind).map(({ text }) => text).join("");
    assertEquals([without("added"), without("removed")], [before, after]);
  }));
});
