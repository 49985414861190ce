import { assertEquals } from "@std/assert";
import { causesOf } from "../../../eval/figures/causes.ts";
import type { InteractionResult } from "../../../eval/test/interaction_result.ts";

const SAME = { entails: 0.98, contradicts: 0.01, covers: 0.97, label: "same" as const };

function turn(fields: Partial<InteractionResult>): InteractionResult {
  return {
    id: "1",
    user_message: "How do I pay?",
    agent_reply: "By card.",
    reference_reply: "By card.",
    interaction_type: "opening",
    reference_metadata: {},
    generated_metadata: {},
    scores: {},
    latency_ms: 1,
    usage: null,
    ...fields,
  };
}

const causes = (fields: Partial<InteractionResult>, threshold = 0.7) =>
  causesOf(turn(fields), threshold).map(({ kind, text }) => `${kind}: ${text}`);

const check = (fields: Partial<NonNullable<InteractionResult["check_results"]>[number]>) => ({
  name: "period",
  type: "contains" as const,
  value: 0 as const,
  weight: 1,
  required: false,
  reason: "no 30",
  ...fields,
});

Deno.test("a reply that means the same and has a wrong label fails by the label, not by its similarity", () => {
  assertEquals(
    causes({
      scores: { semantic_similarity: 0.97, metadata_match: 0, sentiment_match: 0, overall: 0.485 },
      agreement: SAME,
      reference_metadata: { sentiment: "Positive" },
      generated_metadata: { sentiment: "neutral" },
    }),
    ['label: label: sentiment is "neutral", expected "positive"'],
  );
});

Deno.test("a label that does not count, and one that is right, are no causes", () => {
  assertEquals(
    causes({
      scores: { semantic_similarity: 0.3, metadata_match: 0.5, overall: 0.4 },
      reference_metadata: { intent: "pay", tone: "kind", mood: "calm" },
      generated_metadata: { intent: "pay" },
      annotation: {
        method: "few_shot",
        confidence: 1,
        keys: {
          intent: { method: "few_shot", confidence: 1 },
          tone: { method: "few_shot", confidence: null, counts: false },
          mood: { method: "few_shot", confidence: null, none_fits: true },
        },
      },
    }),
    [
      'label: label: mood fits no label, expected "calm"',
      "similarity: similarity in meaning 0.30, needed 0.70",
    ],
  );
});

Deno.test("a similarity just below the threshold does not read as the threshold", () => {
  assertEquals(causes({ scores: { semantic_similarity: 0.6999, overall: 0.6999 } }), [
    "similarity: similarity in meaning 0.69, needed 0.70",
  ]);
});

Deno.test("wrong tool calls are named with their arguments, beside an overall that is high enough", () => {
  const reference_tools = [{ name: "search", args: { q: "kettle" } }];
  const tool_calls = [{ name: "search", args: { q: "pan" }, status: null, ms: null }];
  assertEquals(
    causes({
      scores: { semantic_similarity: 0.99, judge: 1, checks: 1, tools: 0, overall: 0.75 },
      reference_tools,
      tool_calls,
    }),
    [
      'wrong_tools: tool calls: expected search({"q":"kettle"}) (exact), called search({"q":"pan"})',
    ],
  );
});

Deno.test("a wrong value is named in place of the contradiction and of the similarity that it lowers", () => {
  const contradicts = { entails: 0, contradicts: 0.97, covers: 0, label: "contradicts" as const };
  const scores = { semantic_similarity: 0.65, overall: 0.65 };
  assertEquals(
    causes({ scores, agreement: contradicts, wrong_values: ["60 days instead of 30 days"] }),
    ["wrong_value: wrong value: 60 days instead of 30 days"],
  );
  assertEquals(causes({ scores, agreement: contradicts }), [
    "contradiction: contradicts the reference (0.97)",
  ]);
});

Deno.test("a judge below the threshold is named with its reason, one that accepts a contradiction is not", () => {
  const judge = { model: "j", grade: 2, reason: "Too short.", votes: [], spread: null };
  assertEquals(causes({ scores: { semantic_similarity: 0.9, judge: 0.2, overall: 0.55 }, judge }), [
    "judge: judge 0.20, needed 0.70: Too short.",
  ]);
  const accepted = {
    scores: { semantic_similarity: 0.6, judge: 0.9, overall: 0.75 },
    agreement: { ...SAME, label: "contradicts" as const },
  };
  assertEquals(causes(accepted), []);
});

Deno.test("a required check comes first; other checks only count against an overall that is too low", () => {
  const check_results = [check({}), check({ name: "secret", required: true, reason: "it leaks" })];
  const failed = "required_check: check not met: secret (it leaks)";
  assertEquals(causes({ scores: { checks: 0, overall: 0.9 }, check_results }), [failed]);
  assertEquals(causes({ scores: { checks: 0, overall: 0 }, check_results }), [
    failed,
    "check: check not met: period (no 30)",
  ]);
});

Deno.test("a failed call and a missing score are named as such, and a passing turn has no cause", () => {
  const error = { code: "timeout", status: null, detail: "no answer within 120 s" };
  assertEquals(causes({ error, scores: { overall: 0 } }), ["failed_call: no answer within 120 s"]);
  assertEquals(
    causes({
      scores: { overall: null },
      missing_scores: { judge: "judge_unavailable", overall: "without judge" },
    }),
    ["missing_score: no judge: judge_unavailable"],
  );
  assertEquals(causes({ scores: { semantic_similarity: 0.71, overall: 0.71 } }), []);
});
