import { assert, assertEquals } from "@std/assert";
import {
  isSameProvider,
  mergeExtra,
  mergeParts,
  pickExtra,
} from "../../../shared/providers/content.ts";
import { parseToolArguments } from "../../../shared/providers/openai_messages.ts";
import type { ContentPart, ExtraFields } from "../../../shared/providers/provider.ts";
import { readServerSentEvents } from "../../../shared/providers/server_sent_events.ts";

const KNOWN = new Set(["role", "content"]);

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

Deno.test("unknown fields are kept, also an empty text, but nothing that says nothing", () => {
  const message = {
    role: "assistant",
    content: "Hi",
    reasoning_content: "",
    audio: null,
    annotations: [],
    extra_content: {},
    prefix: false,
  };
  assertEquals(pickExtra(message, KNOWN), { reasoning_content: "", prefix: false });
  assertEquals(pickExtra({ role: "assistant", content: null }, KNOWN), undefined);
});

Deno.test("a field that is nested too deeply to be written again is left out", () => {
  assertEquals(pickExtra({ deep: nested(100_000), flat: nested(10) }, KNOWN), { flat: nested(10) });
});

Deno.test("texts of chunks are joined, names and signatures are replaced, objects are merged", () => {
  const sofar: ExtraFields = {};
  for (
    const more of [
      { reasoning: "I ", extra_content: { google: { thought: true } } },
      { reasoning: "think.", extra_content: { google: { thought_signature: "old" } } },
      { extra_content: { google: { thought_signature: "new" } }, provider: "x" },
      { provider: "x" },
    ]
  ) mergeExtra(sofar, more);
  assertEquals(sofar, {
    reasoning: "I think.",
    extra_content: { google: { thought: true, thought_signature: "new" } },
    provider: "x",
  });
});

Deno.test("items of a list are joined by index and type; others follow each other", () => {
  const sofar: ExtraFields = {};
  const text = (text: string, index: number) => ({ type: "reasoning.text", text, index });
  for (
    const item of [
      text("a", 0),
      text("b", 0),
      { type: "reasoning.encrypted", data: "x", index: 0 },
      text("c", 1),
      { type: "note", text: "no index" },
      { type: "note", text: "no index" },
    ]
  ) mergeExtra(sofar, { reasoning_details: [item] });
  assertEquals(sofar.reasoning_details, [
    text("ab", 0),
    { type: "reasoning.encrypted", data: "x", index: 0 },
    text("c", 1),
    { type: "note", text: "no index" },
    { type: "note", text: "no index" },
  ]);
});

Deno.test("a hundred thousand items of a list are merged without looking through all of them", () => {
  const sofar: ExtraFields = {};
  for (let index = 0; index < 100_000; index++) mergeExtra(sofar, { list: [{ index }] });
  assertEquals((sofar.list as unknown[]).length, 100_000);
});

Deno.test("parts of a stream continue the part before them if it has their type", () => {
  const parts: ContentPart[] = [];
  const think = (text: string) => ({ type: "thinking", thinking: [{ type: "text", text }] });
  mergeParts(parts, [think("I "), think("think.")]);
  mergeParts(parts, [{ type: "reference", reference_ids: [1] }]);
  mergeParts(parts, [{ type: "reference", reference_ids: [2] }, "no part", { text: "no type" }]);
  mergeParts(parts, "17 ");
  mergeParts(parts, [{ type: "text", text: "is prime." }]);
  assertEquals(parts, [
    think("I think."),
    { type: "reference", reference_ids: [1] },
    { type: "reference", reference_ids: [2] },
    { type: "text", text: "17 is prime." },
  ]);
});

Deno.test("the provider of a model is the part of its id before the last slash", () => {
  const uuid = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
  const other = "4fa85f64-5717-4562-b3fc-2c963f66afa6";
  const same: [string, string][] = [
    ["google/gemini-3-pro", "google/gemini-3-flash"],
    [uuid, other],
    ["gpt-4o", "llama3.2"],
    ["router/google/a", "router/google/b"],
  ];
  const different: [string, string][] = [
    ["google/gemini-3-pro", "deepseek/deepseek-v4"],
    ["google/gemini-3-pro", uuid],
    ["studio/model", uuid],
    ["router/google/a", "router/deepseek/b"],
    ["google/gemini-3-pro", "gemini-3-pro"],
  ];
  for (const [a, b] of same) assert(isSameProvider(a, b), `${a} and ${b}`);
  for (const [a, b] of different) assert(!isSameProvider(a, b), `${a} and ${b}`);
});

Deno.test("arguments are an object; none at all, in whatever form, are an empty one", () => {
  assertEquals(parseToolArguments(' {"n": 1} '), { n: 1 });
  for (const text of ["", " \n", "null", " null\n", "{}"]) {
    assertEquals(parseToolArguments(text), {}, JSON.stringify(text));
  }
  for (const text of ["[]", "1", '"{}"', '{"n": 1', "nul"]) {
    assertEquals(parseToolArguments(text), undefined, text);
  }
});

Deno.test("arguments that are nested too deeply are not read", () => {
  const nested = (levels: number) => `{"n":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  assertEquals(parseToolArguments(nested(300)), undefined);
  assertEquals(parseToolArguments(nested(150)), JSON.parse(nested(150)));
});

const STREAMS: Record<string, [text: string, events: string[]]> = {
  "line feeds": ["data: a\n\ndata: b\n\n", ["a", "b"]],
  "carriage returns": ["data: a\r\rdata: b\r\r", ["a", "b"]],
  "both": ["data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
  "data in two lines": ["data: a\r\ndata: b\r\n\r\n", ["a\nb"]],
  "no blank after the colon": ["data:a\n\n", ["a"]],
  "blanks that belong to the data": ["data:  a \n\n", [" a "]],
  "empty data": ["data:\n\n", [""]],
  "other fields and comments": [": wait\n\nevent: x\nid: 1\nretry: 2\ndata: a\n\n", ["a"]],
  "no end of the last event": ["data: a\n\ndata: b", ["a", "b"]],
  "nothing": ["", []],
  "characters of several bytes": ["data: ä€🎈\n\n", ["ä€🎈"]],
};
for (const [what, [text, events]] of Object.entries(STREAMS)) {
  Deno.test(`events with ${what} are read, wherever the bytes are split`, async () => {
    const bytes = new TextEncoder().encode(text);
    for (let split = 0; split <= bytes.length; split++) {
      const body = ReadableStream.from([bytes.slice(0, split), bytes.slice(split)]);
      assertEquals(await Array.fromAsync(readServerSentEvents(body)), events, `split at ${split}`);
    }
  });
}

Deno.test("a stream that ends within a line of an event says so", async () => {
  const ends = {
    "data: a": true,
    "data: a\ndata: b": true,
    "data: a\n": false,
    "data: a\n\n": false,
  };
  for (const [text, isExpected] of Object.entries(ends)) {
    let isUnfinished = false;
    const onUnfinished = () => isUnfinished = true;
    await Array.fromAsync(readServerSentEvents(new Blob([text]).stream(), { onUnfinished }));
    assertEquals(isUnfinished, isExpected, JSON.stringify(text));
  }
});

Deno.test("a line of megabytes in small pieces is searched only once", async () => {
  const piece = new TextEncoder().encode("x".repeat(256));
  const [start, end] = ["data: ", "\n\n"].map((text) => new TextEncoder().encode(text));
  const body = ReadableStream.from([start!, ...Array(16_384).fill(piece), end!]);
  const [event] = await Array.fromAsync(readServerSentEvents(body));
  assertEquals(event?.length, 16_384 * 256);
});
