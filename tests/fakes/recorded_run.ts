import type { ComparableRun } from "../../eval/figures/compare/paired_runs.ts";
import type { ComparedTurn } from "../../eval/figures/turn_scores.ts";
import { interaction, scenario } from "./eval_ports.ts";

/**
 * `"failed"` is a call that failed; a record has several scores; one with `scores` is a whole
 * result; `undefined` was not reached.
 */
export type RecordedScore =
  | number
  | "failed"
  | "failed without scores"
  | Record<string, number | null>
  | ComparedTurn["result"]
  | undefined;

/** A scenario's id, and for each of its turns the id and a value an attempt. */
export type RecordedScenario = [id: string, turns: [id: string, ...attempts: RecordedScore[]][]];

/** A run as comparing sees it, written down as a table of `overall` scores. */
export function recordedRun(batch: RecordedScenario[]): ComparableRun {
  return {
    scenarios: batch.map(([id, turns]) =>
      // Each asks something else: those that ask the same count as one.
      scenario(id, turns.map(([turn]) => interaction(turn, { user_message: `${id}: ${turn}` })))
    ),
    turns: turnsOf(batch),
  };
}

async function* turnsOf(batch: RecordedScenario[]): AsyncGenerator<ComparedTurn> {
  for (const [index, [, turns]] of batch.entries()) {
    for (const [turn, [, ...attempts]] of turns.entries()) {
      for (const [attempt, value] of attempts.entries()) {
        const result = toResult(value);
        if (result) yield await Promise.resolve({ scenario: index, attempt, turn, result });
      }
    }
  }
}

function toResult(value: RecordedScore): ComparedTurn["result"] | undefined {
  const error = { code: "provider_error", status: 500, detail: "" };
  if (value === undefined) return undefined;
  if (value === "failed") return { scores: { overall: 0 }, error };
  if (value === "failed without scores") return { scores: { overall: null }, error };
  if (typeof value === "number") return { scores: { overall: value } };
  return isResult(value) ? value : { scores: value };
}

function isResult(
  value: Record<string, number | null> | ComparedTurn["result"],
): value is ComparedTurn["result"] {
  return typeof value.scores === "object";
}
