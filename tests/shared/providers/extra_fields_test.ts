import { assert, assertEquals } from "@std/assert";
import {
  isSameProvider,
  mergeExtra,
  mergeParts,
  pickExtra,
  pickParts,
  reasoningOf,
} from "../../../shared/providers/extra_fields.ts";
import type { ContentPart, ExtraFields } from "../../../shared/providers/provider.ts";

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

Deno.test("merging leaves the chunks as they were", () => {
  const first = { details: [{ index: 0, text: "a" }] };
  const sofar: ExtraFields = {};
  mergeExtra(sofar, first);
  mergeExtra(sofar, { details: [{ index: 0, text: "b" }] });
  assertEquals(first, { details: [{ index: 0, text: "a" }] });
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

Deno.test("plain text in parts is only text; with cache_control it stays a part", () => {
  assertEquals(pickParts([{ type: "text", text: "a" }, { type: "text", text: "b" }]), undefined);
  const cached = { type: "text", text: "a", cache_control: { type: "ephemeral" } };
  assertEquals(pickParts([cached]), [cached]);
});

Deno.test("thoughts are found wherever a provider puts them", () => {
  assertEquals(reasoningOf({ extra: { reasoning_content: "a" } }), "a");
  assertEquals(reasoningOf({ extra: { reasoning: "b" } }), "b");
  assertEquals(reasoningOf({ parts: [{ type: "thinking", thinking: "c" }] }), "c");
  assertEquals(reasoningOf({}), "");
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
