import type { ToolsMode } from "../../test/tools.ts";
import type { Interaction } from "../../test/scenario.ts";
import { compareTools, type MatchTexts, UndecidedPattern } from "../tools/compare_tools.ts";
import { expectsTools } from "../planned_checks.ts";
import { NOT_ASKED, type ScoreInput, type Scorer, type ScorerResult } from "./scorer.ts";

const DEFAULT_MODE: ToolsMode = "exact";

const NOT_REPORTED = "the endpoint does not report its tool calls";

/** The scores of tool calls: `tool_f1`, `tool_args`, `tool_order` and `tools`. */
export const toolScores: Scorer = {
  describe: () => [
    {
      name: "tool_f1",
      definition: "F1 of the names of the tools called against reference_tools; null without them",
      range: [0, 1],
      method: "names as multisets; 1 if none is expected and none is called, 0 if one is",
    },
    {
      name: "tool_args",
      definition: "the share of arguments that are as expected, over the calls expected with args",
      range: [0, 1],
      method: "each is paired with a call of its name, the best pairs first; of each pair the " +
        "arguments that are equal (numbers within 1e-9), match $regex or may be $any, divided by " +
        "those that are expected or given; 0 for a call that was not made",
    },
    {
      name: "tool_order",
      definition: "how well the order of the names matches the expected one",
      range: [0, 1],
      method: "longest common subsequence of the names / length of the longer list",
    },
    {
      name: "tools",
      definition: "1 if the calls fit reference_tools by tools_mode, else 0; such a " +
        "turn does not pass",
      range: [0, 1],
      method: "exact: the same calls in the same order; any_order: the same calls; subset: no " +
        "others; superset: at least these",
    },
  ],

  forBatch({ scenarios, checks }) {
    if (!scenarios.some(({ interactions }) => interactions.some(expectsTools))) return undefined;
    const matchTexts: MatchTexts = async (pairs) => {
      const decisions = await checks.decideAll(
        pairs.map(({ pattern, text }) => ({ check: { type: "regex", value: pattern }, text })),
      );
      return decisions.map(({ value, reason }, index) => {
        if (value !== null) return value === 1;
        throw new UndecidedPattern(`$regex ${pairs[index]!.pattern}: ${reason}`);
      });
    };
    return {
      plan: (interaction) => planTools(interaction),
      async score({ interaction, toolCalls, latencyMs }: ScoreInput): Promise<ScorerResult> {
        const planned = planTools(interaction);
        if (!planned.tools) return allMissing(planned);
        if (!toolCalls) {
          return allMissing(planned, latencyMs === undefined ? NOT_ASKED : NOT_REPORTED);
        }
        try {
          const found = await compareTools({
            expected: interaction.reference_tools!,
            made: toolCalls,
            mode: interaction.tools_mode ?? DEFAULT_MODE,
          }, matchTexts);
          return {
            scores: {
              tool_f1: { value: found.f1 },
              tool_args: { value: found.args },
              tool_order: { value: found.order },
              tools: { value: found.fits ? 1 : 0 },
            },
          };
        } catch (error) {
          if (!(error instanceof UndecidedPattern)) throw error;
          return allMissing(planned, error.message);
        }
      },
    };
  },
};

function planTools(interaction: Interaction): Record<string, boolean> {
  const isExpected = expectsTools(interaction);
  const hasArgs = isExpected && interaction.reference_tools!.some(({ args }) => args !== undefined);
  return { tool_f1: isExpected, tool_args: hasArgs, tool_order: isExpected, tools: isExpected };
}

/** None of the scores has a value, and those that are planned are missing if there is a `reason`. */
function allMissing(planned: Record<string, boolean>, reason?: string): ScorerResult {
  const scores = Object.entries(planned).map(([name, isPlanned]) =>
    [name, { value: null, reason: isPlanned ? reason : undefined }] as const
  );
  return { scores: Object.fromEntries(scores) };
}
