import { shorten } from "../../../shared/text.ts";
import { referencesOf } from "../../assess/references.ts";
import { OVERALL_PARTS } from "../../assess/scores/overall.ts";
import { HEADLINE } from "../../results/passing.ts";
import type { InteractionResult } from "../../schemas/interaction_result.ts";
import type { ObservedToolCall } from "../../schemas/tools.ts";
import type { LowTurn, RunNumbers } from "./run_numbers.ts";
import { firstLines, showScore, type TextForm } from "./text_form.ts";

/** Failed checks of one reply: a comment has room for 65,536 characters. */
const SHOWN_CHECKS = 5;

/** The lowest replies with what was asked and expected, and why they are low. */
export function describeLowestReplies(numbers: RunNumbers, form: TextForm): string {
  if (numbers.lowest.length === 0) return "";
  return form.title("Lowest replies", 2) +
    numbers.lowest.map((low) =>
      form.item(describeTurn(low, { numbers, form }), describeReply(low.result, form))
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

/** What was asked, expected and answered, and why the reply is low. `before` is an earlier reply. */
export function describeReply(
  result: InteractionResult,
  form: TextForm,
  before?: string,
): string[] {
  const { user_message, agent_reply, judge, scores } = result;
  const hasWrongLabels = typeof scores.metadata_match === "number" && scores.metadata_match < 1;
  const quoted = {
    asked: user_message,
    expected: referencesOf(result).join(" | ") || undefined,
    before,
    [before === undefined ? "answered" : "now"]: agent_reply,
    judge: judge?.reason ?? undefined,
    ...(hasWrongLabels && {
      "expected labels": JSON.stringify(result.reference_metadata),
      "found labels": JSON.stringify(result.generated_metadata),
    }),
  };
  return [
    ...Object.entries(quoted).flatMap(([name, text]) =>
      text === undefined ? [] : [`${name}: ${form.message(text)}`]
    ),
    ...describeContradiction(result).map(form.message),
    ...describeTools(result).map(form.message),
    ...firstLines(describeFailedChecks(result).map(form.message), {
      most: SHOWN_CHECKS,
      noun: "failed check",
    }),
  ];
}

/** Characters of a check's reason. */
const SHOWN_CHARACTERS = 2000;

/** The checks that a turn does not meet, each with its reason; the required ones first. */
export function describeFailedChecks({ check_results = [] }: InteractionResult): string[] {
  return check_results.filter(({ value }) => value === 0)
    .toSorted((a, b) => Number(b.required) - Number(a.required))
    .map(({ name, reason, required }) =>
      `failed check: ${name}${required ? " (required)" : ""}: ${
        shorten(reason ?? "", SHOWN_CHARACTERS, "…")
      }`
    );
}

/** In words why a reply contradicts its reference; nothing if it does not. */
export function describeContradiction(
  { agreement, wrong_values = [] }: Pick<InteractionResult, "agreement" | "wrong_values">,
): string[] {
  return [
    ...(agreement && agreement.contradicts > 0.5
      ? [`contradicts the reference (${agreement.contradicts.toFixed(2)})`]
      : []),
    ...(wrong_values.length > 0 ? [`wrong value: ${wrong_values.join(", ")}`] : []),
  ];
}

/** The calls of a turn with expected ones: what was expected, and what was called. */
export function describeTools(
  { reference_tools, tools_mode = "exact", tool_calls }: InteractionResult,
): string[] {
  if (!Array.isArray(reference_tools)) return [];
  return [
    `expected tools (${tools_mode}): ${listCalls(reference_tools)}`,
    `called tools: ${tool_calls ? listCalls(tool_calls) : "not reported"}`,
  ];
}

function listCalls(calls: { name: string; args?: ObservedToolCall["args"] | undefined }[]): string {
  return calls.map(describeCall).join(", ") || "none";
}

/** `search({"q":"kettle"})`. */
function describeCall(
  { name, args }: { name: string; args?: ObservedToolCall["args"] | undefined },
): string {
  if (args === undefined) return name;
  return `${name}(${typeof args === "string" ? args : JSON.stringify(args)})`;
}
