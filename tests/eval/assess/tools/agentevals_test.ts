import { assert, assertEquals } from "@std/assert";
import { createTrajectoryMatchEvaluator } from "npm:agentevals@0.0.7";
import { compareTools } from "../../../../eval/assess/tools/compare_tools.ts";
import type { ToolsMode } from "../../../../eval/schemas/tools.ts";
import { createRandom } from "../../../bench/random.ts";

/** Our modes, and agentevals' names for them. */
const MODES = {
  exact: "strict",
  any_order: "unordered",
  subset: "subset",
  superset: "superset",
} as const satisfies Record<ToolsMode, string>;

interface Call {
  name: string;
  args: Record<string, unknown>;
}

/** One message a call, as agents that call one tool at a time; then the order counts in `strict`. */
function toMessages(calls: Call[]) {
  return [
    { role: "user" as const, content: "Question" },
    ...calls.flatMap(({ name, args }, index) => [
      {
        role: "assistant" as const,
        content: "",
        tool_calls: [{
          id: `c${index}`,
          type: "function" as const,
          function: { name, arguments: JSON.stringify(args) },
        }],
      },
      { role: "tool" as const, content: "done", tool_call_id: `c${index}` },
    ]),
    { role: "assistant" as const, content: "Answer" },
  ];
}

/** Up to four calls of three tools, with few different arguments: many pairs are nearly the same. */
function drawCalls(random: () => number): Call[] {
  return Array.from({ length: Math.floor(random() * 5) }, () => ({
    name: ["search", "buy", "pay"][Math.floor(random() * 3)]!,
    args: [{}, { q: 1 }, { q: 2, deep: { list: [1, "x"] } }][Math.floor(random() * 3)]!,
  }));
}

/** Half of the pairs are changed copies: pairs drawn apart would hardly ever fit. */
function drawPair(random: () => number): { expected: Call[]; made: Call[] } {
  const expected = drawCalls(random);
  if (random() < 0.3) return { expected, made: drawCalls(random) };
  const made = expected.filter(() => random() < 0.8);
  if (random() < 0.4) made.reverse();
  if (random() < 0.3) made.push(...drawCalls(random).slice(0, 1));
  return { expected, made };
}

Deno.test("the modes agree with agentevals on 60 trajectories each", async () => {
  const random = createRandom(17);
  const pairs = Array.from({ length: 60 }, () => drawPair(random));
  for (const [mode, theirs] of Object.entries(MODES) as [ToolsMode, (typeof MODES)[ToolsMode]][]) {
    const evaluate = createTrajectoryMatchEvaluator({ trajectoryMatchMode: theirs });
    let fitting = 0;
    for (const { expected, made } of pairs) {
      const { score } = await evaluate({
        outputs: toMessages(made),
        referenceOutputs: toMessages(expected),
      });
      const observed = made.map((call) => ({ ...call, status: null, ms: null }));
      const { fits } = await compareTools(
        { expected, made: observed, mode },
        (pairs) => Promise.resolve(pairs.map(() => false)),
      );
      assertEquals(fits, score, JSON.stringify({ mode, expected, made }));
      fitting += Number(fits);
    }
    assert(fitting >= 10 && fitting <= 50, `${mode}: ${fitting} of 60 fit`);
  }
});
