import { assertEquals } from "@std/assert";
import { matchMetadata } from "../../../../eval/score/scores/metadata_match.ts";
import type { ScoredBatch, ScoreEntry, ScoreInput } from "../../../../eval/score/scores/scorer.ts";
import { toolScores } from "../../../../eval/score/scores/tools.ts";
import { compareTools } from "../../../../eval/score/tools/compare_tools.ts";
import { undecided } from "../../../../eval/test/decision.ts";
import { Interaction, type Metadata } from "../../../../eval/test/scenario.ts";
import type { ObservedToolCall } from "../../../../eval/test/tools.ts";
import { interaction } from "../../../fakes/eval_ports.ts";

const CASES: [expected: unknown, found: unknown, match: number | null, why: string][] = [
  ["Refund ", "refund", 1, "letter case and blanks do not count"],
  ["refund", "delivery", 0, "another label is wrong"],
  ["refund", undefined, null, "if it could not be read it is missing, not wrong"],
  ["positive", "unknown", 0, "a label that says nothing is another one"],
  ["unknown", "unknown", 1, "unless that is what was expected"],
  [3, "3.0", 1, "numbers are compared by their value"],
  ["1e2", 100, 1, "however they are written"],
  [3, 4, 0, "and differ by it"],
  [true, true, 1, "truth values are values"],
  ["", "", 1, "and so is nothing"],
];

type Found = Parameters<typeof matchMetadata>[1];

function match(
  reference_metadata: Metadata,
  generatedMetadata: Metadata,
  keys: NonNullable<Found["annotation"]>["keys"] = {},
) {
  const annotation = { method: "few_shot", confidence: null, keys };
  const turn = interaction("i", { reference_metadata });
  const entries = matchMetadata(turn, { reply: "text", generatedMetadata, annotation });
  const part = (name: keyof ScoreEntry) =>
    Object.fromEntries(
      Object.entries(entries).flatMap(([key, entry]) =>
        entry[name] === undefined ? [] : [[key, entry[name]]]
      ),
    );
  return { scores: part("value"), missing: part("reason") };
}

for (const [expected, found, value, why] of CASES) {
  Deno.test(`<key>_match: ${why}`, () => {
    const { scores } = match({ key: expected }, found === undefined ? {} : { key: found });
    assertEquals(scores, { key_match: value, metadata_match: value });
  });
}

Deno.test("metadata_match is the mean over the keys", () => {
  const { scores, missing } = match({ a: "x", b: "y" }, { a: "x", b: "?" });
  assertEquals(scores, { a_match: 1, b_match: 0, metadata_match: 0.5 });
  assertEquals(missing, {});
});

const none = (reason: string) => ({ method: "few_shot", confidence: null, reason });

Deno.test("a key without a label makes the mean missing", () => {
  const expected = { a: "x", b: "y", c: "z", d: "w" };
  const { scores, missing } = match(expected, { a: "x", b: "?", d: "w" }, {
    c: none("no label is near"),
  });
  assertEquals(scores, { a_match: 1, b_match: 0, c_match: null, d_match: 1, metadata_match: null });
  assertEquals(missing, { c_match: "no label is near", metadata_match: "c: no label is near" });
});

Deno.test("a key that does not count in this batch is neither matched nor missing", () => {
  const keys = { b: { method: "few_shot", confidence: null, counts: false as const } };
  const one = match({ a: "x", b: "y" }, { a: "x" }, keys);
  assertEquals(one.scores, { a_match: 1, b_match: null, metadata_match: 1 });
  const lone = match({ b: "y" }, {}, keys);
  assertEquals(lone.scores, { b_match: null, metadata_match: null });
  assertEquals([one.missing, lone.missing], [{}, {}]);
});

Deno.test("a reply that fits no label in the judge's opinion matches none, and nothing is missing", () => {
  const { scores, missing } = match({ a: "x", b: "y" }, { b: "y" }, {
    a: { ...none("none fits"), none_fits: true },
  });
  assertEquals(scores, { a_match: 0, b_match: 1, metadata_match: 0.5 });
  assertEquals(missing, {});
});

Deno.test("a key with the name of a built-in property is missing if no annotator labelled it", () => {
  for (const key of ["constructor", "__proto__"]) {
    const { scores } = match(Object.fromEntries([[key, "x"]]), {});
    assertEquals(scores, { [`${key}_match`]: null, metadata_match: null });
  }
});

Deno.test("a key called metadata enters the mean and does not replace it", () => {
  const { scores } = match({ metadata: "x", a: "y" }, { metadata: "x", a: "?" });
  assertEquals(scores, { a_match: 0, metadata_match: 0.5 });
});

const made: ObservedToolCall = { name: "search", args: { q: "kettle" }, status: "ok", ms: 1 };

Deno.test("tool calls whose arguments cannot be compared are not scored, and are not wrong", async () => {
  const interaction = Interaction.parse({
    id: "1",
    user_message: "?",
    reference_tools: [{ name: "search", args: { q: { $regex: "k+" } } }],
  });
  const batch: Partial<ScoredBatch> = {
    scenarios: [{ id: "s", description: "", interactions: [interaction] }],
    checks: {
      decide: () => Promise.resolve(undecided("the text is too long")),
      decideAll: (checked) => Promise.resolve(checked.map(() => undecided("the text is too long"))),
    },
  };
  const scorer = toolScores.forBatch(batch as ScoredBatch)!;
  const input: Partial<ScoreInput> = { interaction, toolCalls: [made] };
  const { scores } = await scorer.score(input as ScoreInput);
  const reason = "$regex k+: the text is too long";
  for (const name of ["tool_f1", "tool_args", "tool_order", "tools"]) {
    assertEquals(scores[name], { value: null, reason });
  }
});

Deno.test("the event loop runs while thousands of tool calls are compared", async () => {
  const expected = Array.from({ length: 20 }, (_, q) => ({ name: "search", args: { q } }));
  let hasRun = false;
  setTimeout(() => hasRun = true, 0);
  await compareTools(
    { expected, made: new Array(1_000).fill(made), mode: "superset" },
    (pairs) => Promise.resolve(pairs.map(() => true)),
  );
  assertEquals(hasRun, true);
});
