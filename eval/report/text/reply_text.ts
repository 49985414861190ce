import { referencesOf } from "../../score/references.ts";
import { OVERALL_PARTS } from "../../score/overall.ts";
import { HEADLINE } from "../../figures/passing.ts";
import type { InteractionResult } from "../../test/interaction_result.ts";
import type { LowTurn, RunNumbers } from "./run_numbers.ts";
import { firstLines, showScore, type TextForm } from "./text_form.ts";

/** Of one reply: a comment has room for 65,536 characters. */
const SHOWN_CAUSES = 5;

/** The lowest replies with what was asked and expected, and why they are low. */
export function describeLowestReplies(numbers: RunNumbers, form: TextForm): string {
  if (numbers.lowest.length === 0) return "";
  return form.title("Lowest replies", 2) +
    numbers.lowest.map((low) =>
      form.item(describeTurn(low, { numbers, form }), describeReply(low, form))
    )
      .join("");
}

function describeTurn(
  { scenario, turn, attempt, result: { scores } }: LowTurn,
  { numbers: { scenarios }, form }: { numbers: RunNumbers; form: TextForm },
): string {
  const { label, attempts, turns } = scenarios[scenario]!;
  const place = [
    form.name(label),
    ...(turns > attempts ? [`turn ${turn + 1}`] : []),
    ...(attempts > 1 ? [`attempt ${attempt + 1}`] : []),
  ];
  const parts = OVERALL_PARTS.filter((name) => typeof scores[name] === "number")
    .map((name) => `${name} ${showScore(scores[name])}`);
  return `${place.join(", ")}: ${HEADLINE} ${showScore(scores[HEADLINE])}` +
    (parts.length > 0 ? ` (${parts.join(", ")})` : "");
}

/** What was asked, expected and answered, and why it does not pass. `before` is an earlier reply. */
export function describeReply(
  { result, why, before }: { result: InteractionResult; why: string[]; before?: string },
  form: TextForm,
): string[] {
  const { user_message, agent_reply } = result;
  const quoted = {
    asked: user_message,
    expected: referencesOf(result).join(" | ") || undefined,
    before,
    [before === undefined ? "answered" : "now"]: agent_reply,
  };
  return [
    ...Object.entries(quoted).flatMap(([name, text]) =>
      text === undefined ? [] : [`${name}: ${form.message(text)}`]
    ),
    ...firstLines(why.map((cause) => `why: ${form.message(cause)}`), {
      most: SHOWN_CAUSES,
      noun: "cause",
    }),
  ];
}
