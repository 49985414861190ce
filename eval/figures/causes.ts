import { labelKey, NO_LABEL } from "../test/labels.ts";
import { hasWrongTools, isBarring, isContradicting } from "../test/barred.ts";
import type { CheckResult } from "../test/checks.ts";
import type { AgreementLabel, InteractionResult } from "../test/interaction_result.ts";
import type { ObservedToolCall } from "../test/tools.ts";
import { roundedBelow } from "../test/rounding.ts";
import { shorten } from "../../shared/service/text.ts";
import { HEADLINE, outcomeOf, reaches } from "./passing.ts";

/** What kept a turn from passing, in words. */
export interface Cause {
  kind:
    | "failed_call"
    | "missing_score"
    | "required_check"
    | "wrong_tools"
    | "wrong_value"
    | "contradiction"
    | "check"
    | "label"
    | "similarity"
    | "judge"
    | "score";
  text: string;
}

/** Characters of a caller's or a model's text in a cause. */
const SHOWN_CHARACTERS = 500;

/**
 * Why a turn does not pass, the most certain cause first; empty if it passes or has no score. Only
 * what itself failed is named: a check, a label, a call, a part of `overall` below the threshold.
 */
export function causesOf(turn: InteractionResult, threshold: number): Cause[] {
  switch (outcomeOf(turn, threshold)) {
    case "failed":
      return [{ kind: "failed_call", text: turn.error!.detail }];
    case "missing":
      return missingCauses(turn.missing_scores!);
    case "below": {
      const causes = [...barringCauses(turn), ...lowCauses(turn, threshold)];
      const overall = turn.scores[HEADLINE] ?? 0;
      const alone = { kind: "score" as const, text: `${HEADLINE} ${short(overall, threshold)}` };
      return causes.length > 0 ? causes : [alone]; // of an imported result without its parts
    }
    default:
      return [];
  }
}

/** The missing parts; `overall` itself only if it has none. */
function missingCauses(missing: Record<string, string>): Cause[] {
  const all = Object.entries(missing);
  const parts = all.filter(([name]) => name !== HEADLINE);
  return (parts.length > 0 ? parts : all)
    .map(([name, reason]) => ({ kind: "missing_score", text: `no ${name}: ${reason}` }));
}

/** What keeps a turn from passing whatever its `overall` is. */
function barringCauses(turn: InteractionResult): Cause[] {
  const checks = turn.check_results?.filter(isBarring) ?? [];
  return [
    ...checks.map((check) => ({ kind: "required_check" as const, text: checkText(check) })),
    ...(hasWrongTools(turn) ? [{ kind: "wrong_tools" as const, text: toolsText(turn) }] : []),
    ...(isContradicting(turn) ? [contradiction(turn)] : []),
  ];
}

function contradiction({ agreement, wrong_values = [] }: InteractionResult): Cause {
  if (wrong_values.length > 0) {
    return { kind: "wrong_value", text: `wrong value: ${wrong_values.join(", ")}` };
  }
  const text = `contradicts the reference (${agreement!.contradicts.toFixed(2)})`;
  return { kind: "contradiction", text };
}

/** What lowers an `overall` that is too low. */
function lowCauses(turn: InteractionResult, threshold: number): Cause[] {
  const { scores, check_results = [], judge } = turn;
  const isLow = (value: number | null | undefined): value is number =>
    typeof value === "number" && !reaches(value, threshold);
  if (!isLow(scores[HEADLINE])) return [];
  const unmet = check_results.filter((check) => check.value === 0 && !isBarring(check));
  const { semantic_similarity: similarity } = scores;
  return [
    ...unmet.map((check) => ({ kind: "check" as const, text: checkText(check) })),
    ...wrongLabels(turn).map((text) => ({ kind: "label" as const, text })),
    ...(isLow(similarity) && !isContradicting(turn)
      ? [{ kind: "similarity" as const, text: similarityText(turn) + short(similarity, threshold) }]
      : []),
    ...(isLow(scores.judge)
      ? [{
        kind: "judge" as const,
        text: `judge ${short(scores.judge, threshold)}${
          judge?.reason ? `: ${shorten(judge.reason, SHOWN_CHARACTERS, "…")}` : ""
        }`,
      }]
      : []),
  ];
}

function short(value: number, limit: number): string {
  return `${roundedBelow(value, { limit, digits: 2 }).toFixed(2)}, needed ${limit.toFixed(2)}`;
}

/** A check that is not met. */
export function checkText({ name, reason }: Pick<CheckResult, "name" | "reason">): string {
  return `check not met: ${name}${reason ? ` (${shorten(reason, SHOWN_CHARACTERS, "…")})` : ""}`;
}

/** The labels that are not those expected, of the keys that count. */
function wrongLabels(
  { scores, reference_metadata, generated_metadata, annotation }: InteractionResult,
): string[] {
  const notes = new Map(Object.entries(annotation?.keys ?? {}));
  if (typeof scores.metadata_match !== "number") return [];
  return Object.entries(reference_metadata).flatMap(([key, expected]) => {
    if (notes.get(key)?.counts === false) return [];
    const found = Object.hasOwn(generated_metadata, key)
      ? labelKey(generated_metadata[key])
      : NO_LABEL;
    const wanted = labelKey(expected);
    if (found === wanted) return [];
    const what = found === NO_LABEL ? "fits no label" : `is "${found}"`;
    return [`label: ${key} ${what}, expected "${wanted}"`];
  });
}

const DISAGREEMENT: Partial<Record<AgreementLabel, string>> = {
  partly: "says only a part of the reference; ",
  adds: "adds to the reference; ",
  unrelated: "does not say what the reference says; ",
};

function similarityText({ agreement }: InteractionResult): string {
  return `${agreement ? DISAGREEMENT[agreement.label] ?? "" : ""}similarity in meaning `;
}

/** The calls of a turn with expected ones: what was expected, and what was called. */
function toolsText(
  { reference_tools = [], tools_mode = "exact", tool_calls }: InteractionResult,
): string {
  const called = tool_calls ? listCalls(tool_calls) : "not reported";
  return `tool calls: expected ${listCalls(reference_tools)} (${tools_mode}), called ${called}`;
}

function listCalls(calls: { name: string; args?: ObservedToolCall["args"] | undefined }[]): string {
  const text = calls.map(({ name, args }) =>
    args === undefined ? name : `${name}(${typeof args === "string" ? args : JSON.stringify(args)})`
  ).join(", ");
  return shorten(text || "none", SHOWN_CHARACTERS, "…");
}
