import { assertEquals } from "@std/assert";
import { compareTools } from "../../../../eval/assess/tools/compare_tools.ts";
import { undecided } from "../../../../eval/schemas/decision.ts";
import type { ScoredBatch, ScoreInput } from "../../../../eval/assess/scores/scorer.ts";
import { toolScores } from "../../../../eval/assess/scores/tools.ts";
import { Interaction } from "../../../../eval/schemas/scenario.ts";
import type { ObservedToolCall } from "../../../../eval/schemas/tools.ts";

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
      decide: () => undecided("the text is too long"),
      decideAll: (checked) => Promise.resolve(checked.map(() => undecided("the text is too long"))),
      inspect: () => Promise.resolve([]),
      [Symbol.dispose]() {},
    },
  };
  const scorer = toolScores.forBatch(batch as ScoredBatch)!;
  const input: Partial<ScoreInput> = { interaction, toolCalls: [made] };
  const { scores, missing } = await scorer.score(input as ScoreInput);
  const names = ["tool_f1", "tool_args", "tool_order", "tools"];
  assertEquals(scores, Object.fromEntries(names.map((name) => [name, null])));
  assertEquals(
    missing,
    Object.fromEntries(names.map((name) => [name, "$regex k+: the text is too long"])),
  );
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
