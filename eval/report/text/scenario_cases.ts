import { causesOf } from "../../figures/causes.ts";
import { outcomeOf } from "../../figures/passing.ts";
import type { StoredTurn } from "../../store/turn_record.ts";
import type { ExportSource } from "../format.ts";
import { labelScenarios } from "./run_numbers.ts";

/** A scenario as one test. Its attempts are the times that the test was run. */
export interface ScenarioCase {
  name: string;
  /** `sometimes`: it passed in some attempts. `error`: no attempt passed, and a call failed. */
  standing: "passed" | "sometimes" | "failed" | "error" | "unscored";
  attempts: AttemptCase[];
}

export interface AttemptCase {
  /** Counts from 1. */
  attempt: number;
  /** Of all its turns together. */
  ms: number;
  isScored: boolean;
  hasFailedCall: boolean;
  /** Why it did not pass; empty if it did. */
  causes: string[];
}

/** Every scenario of a run that has turns. Keeps of each turn only why it did not pass. */
export async function readScenarioCases(
  { run, reader, threshold }: Pick<ExportSource, "run" | "reader" | "threshold">,
): Promise<ScenarioCase[]> {
  const labels = labelScenarios(run.request.test_batch);
  const found = new Map<number, Map<number, AttemptCase>>();
  for await (const stored of reader.turns(run.id)) {
    const attempts = found.get(stored.scenario) ?? new Map<number, AttemptCase>();
    found.set(stored.scenario, attempts);
    const attempt = attempts.get(stored.attempt) ?? startAttempt(stored);
    attempts.set(stored.attempt, attempt);
    addTurn(attempt, stored, threshold);
  }
  return [...found].map(([scenario, byNumber]) => {
    const attempts = [...byNumber.values()];
    return { name: labels[scenario]!, attempts, standing: standingOf(attempts) };
  });
}

const startAttempt = ({ attempt }: StoredTurn): AttemptCase => ({
  attempt: attempt + 1,
  ms: 0,
  isScored: false,
  hasFailedCall: false,
  causes: [],
});

function addTurn(
  attempt: AttemptCase,
  { turn, result }: StoredTurn,
  threshold: number,
): void {
  const outcome = outcomeOf(result, threshold);
  attempt.ms += result.latency_ms ?? 0;
  attempt.isScored ||= outcome !== "unscored";
  attempt.hasFailedCall ||= outcome === "failed" || outcome === "missing";
  if (outcome === "passed" || outcome === "unscored") return;
  const causes = causesOf(result, threshold).map(({ text }) => text).join("; ");
  attempt.causes.push(`turn ${turn + 1} (${result.id}): ${causes}`);
}

function standingOf(attempts: AttemptCase[]): ScenarioCase["standing"] {
  const scored = attempts.filter(({ isScored }) => isScored);
  const passed = scored.filter(({ causes }) => causes.length === 0);
  if (scored.length === 0) return "unscored";
  if (passed.length === scored.length) return "passed";
  if (passed.length > 0) return "sometimes";
  return scored.some(({ hasFailedCall }) => hasFailedCall) ? "error" : "failed";
}
