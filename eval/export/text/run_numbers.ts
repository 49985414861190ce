import type { TurnCounts } from "../../schemas/evaluate_response.ts";
import type {
  AgreementLabel,
  InteractionError,
  InteractionResult,
} from "../../schemas/interaction_result.ts";
import type { HistoryGap, Scores, Statistic } from "../../schemas/statistics.ts";
import { agreementOf, hasWrongTools } from "../../schemas/barred.ts";
import { isBarring } from "../../schemas/checks.ts";
import { countTurns, isAskedTheSecondWay, planOf } from "../../schemas/conversations.ts";
import { isAskedHere } from "../../results/turn_counts.ts";
import { HEADLINE } from "../../results/passing.ts";
import type { RunSummary } from "../../results/run_summary.ts";
import { PASSING, type ResultPart, resultParts } from "../../results/scenario_results.ts";
import { createTotals } from "../../results/summary.ts";
import type { ExportSource } from "../format.ts";
import { outcomeOf } from "../../results/outcome.ts";
import type { TurnOutcome } from "../../store/runs/list_query.ts";
import type { TurnReader } from "../../store/turns/whole_reader.ts";
import type { StoredRun } from "../../store/runs/run_record.ts";

/** Turns by what became of them, and the time that the endpoint took for them. */
export type Counts = Record<TurnOutcome, number> & { turns: number; latencyMs: number };

/** One scenario in numbers, over all its attempts. */
export interface ScenarioNumbers extends Counts {
  /** The scenario's id; the second of the same id has ` (2)` after it. */
  label: string;
  attempts: number;
  averages: Scores;
  /** What its `overall` may be if scores are missing; `null` if none is. */
  bounds: [number, number] | null;
}

type Statistics = Record<string, Statistic>;
type TurnPart = Extract<ResultPart, { kind: "turn" }>;

/** A run in numbers. What it holds grows with the scenarios, not with their attempts. */
export interface RunNumbers extends Counts {
  scenarios: ScenarioNumbers[];
  averages: Scores;
  statistics: Statistics;
  /** Every score that any turn names, also if it never applied. */
  scoreNames: string[];
  /** By code: how many calls failed, and the first of them in words. */
  errors: Map<string, { count: number; detail: string }>;
  /** Replies to look at first. */
  lowest: LowTurn[];
  /** As in a run's summary: of the turns that the run asked itself. */
  usage: RunSummary["usage"];
  /** Turns that people graded, their grades, and the sum of these. */
  graded: { turns: number; grades: number; sum: number };
  /** What is missing, by which methods scores were computed, in what replies differ. */
  turnCounts: TurnCounts;
  /** By score, if the run has both histories. */
  historyGap?: Record<string, HistoryGap>;
  /** Turns that cannot pass, by the reason; `missing` are those of which that is not known. */
  barred: { byChecks: number; byTools: number; missing: number };
}

/** Reads a run once. The averages are those of its result. */
export async function readNumbers(
  { run, reader, threshold, label }: Pick<ExportSource, "run" | "threshold"> & {
    reader: Pick<TurnReader, "turnPages">;
    /** The replies to look at are those of this label. */
    label?: AgreementLabel | undefined;
  },
): Promise<RunNumbers> {
  const scenarios = labelScenarios(run.request.test_batch).map((label): ScenarioNumbers => ({
    label,
    attempts: 0,
    averages: {},
    bounds: null,
    ...noCounts(),
  }));
  const total = noCounts();
  const totals = createTotals();
  const scoreNames = new Set<string>();
  const errors: RunNumbers["errors"] = new Map();
  const graded: RunNumbers["graded"] = { turns: 0, grades: 0, sum: 0 };
  const barred = { byChecks: 0, byTools: 0, missing: 0 };
  const usage = { input_tokens: 0, output_tokens: 0 };
  const lowest = createLowestTurns(threshold, label);
  let place = { scenario: 0, attempt: 0 };
  let scenario = scenarios[0]!;

  function countTurn({ result: turn, turn: index, mayBeBarred }: TurnPart): void {
    totals.addTurn(turn);
    if (isAskedHere(turn)) {
      usage.input_tokens += turn.usage?.input_tokens ?? 0;
      usage.output_tokens += turn.usage?.output_tokens ?? 0;
    }
    if (isAskedTheSecondWay(turn)) return;
    lowest.add({ ...place, turn: index, result: turn });
    for (const counts of [scenario, total]) count(counts, { turn, threshold });
    for (const name in turn.scores) scoreNames.add(name);
    if (turn.error) countError(errors, turn.error);
    if (turn.grades) {
      graded.turns++;
      graded.grades += turn.grades.length;
      graded.sum += turn.grades.reduce((sum, { value }) => sum + value, 0);
    }
    if (turn.check_results?.some(isBarring)) barred.byChecks++;
    if (hasWrongTools(turn)) barred.byTools++;
    if (mayBeBarred) barred.missing++;
  }

  for await (const parts of resultParts(reader, run, { attemptScores: PASSING })) {
    for (const part of parts) {
      if (part.kind === "scenario") {
        place = { scenario: part.index, attempt: 0 };
        scenario = scenarios[part.index]!;
      } else if (part.kind === "attempt") {
        place = { ...place, attempt: part.attempt };
        scenario.attempts += part.isSecondWay ? 0 : 1;
      } else if (part.kind === "turn") {
        countTurn(part);
      } else if (part.kind === "scenario end") {
        scenario.averages = part.summary.average_scores;
        scenario.bounds = part.summary.statistics[HEADLINE]?.bounds ?? null;
        totals.add(part);
      }
    }
  }
  const {
    average_scores: averages,
    statistics,
    missing_scores,
    score_methods,
    differs_in,
    agreements,
    history_gap,
    cost,
    judge_cost,
    check_counts,
    truncated,
  } = totals.close();
  return {
    ...total,
    scenarios,
    averages,
    statistics,
    scoreNames: [...scoreNames],
    errors,
    lowest: lowest.list(),
    usage,
    graded,
    turnCounts: {
      missing_scores,
      score_methods,
      differs_in,
      ...(agreements && { agreements }),
      truncated,
      ...(check_counts && { check_counts }),
      ...(cost && { cost }),
      ...(judge_cost && { judge_cost }),
    },
    barred,
    ...(history_gap && { historyGap: history_gap }),
  };
}

function count(
  counts: Counts,
  { turn, threshold }: { turn: InteractionResult; threshold: number },
): void {
  counts.turns++;
  counts[outcomeOf(turn, threshold)]++;
  counts.latencyMs += turn.latency_ms;
}

function countError(errors: RunNumbers["errors"], { code, detail }: InteractionError): void {
  const known = errors.get(code);
  if (known) known.count++;
  else errors.set(code, { count: 1, detail });
}

function noCounts(): Counts {
  return { turns: 0, passed: 0, below: 0, failed: 0, missing: 0, unscored: 0, latencyMs: 0 };
}

/** Names that tell scenarios apart: readers of reports take two of one name for the same. */
function labelScenarios(batch: { id: string }[]): string[] {
  const seen = new Map<string, number>();
  return batch.map(({ id }) => {
    const times = (seen.get(id) ?? 0) + 1;
    seen.set(id, times);
    return times === 1 ? id : `${id} (${times})`;
  });
}

/** The turns of a complete run that count: without those that are asked a second way. */
export function countedTurns({ request, totalTurns }: StoredRun): number {
  if (request.history !== "both") return totalTurns;
  return countTurns({ ...planOf(request), history: "generated" });
}

/** An answered turn that did not pass or has a label: in the attempt in which it was lowest. */
export interface LowTurn {
  scenario: number;
  /** Counts from 0, as `attempt` does. */
  turn: number;
  attempt: number;
  result: InteractionResult;
}

const KEPT = 5;
/** Of one label, which somebody asked for. */
const KEPT_OF_LABEL = 50;

/** The lowest turns of those that were added, lowest first; a conversation's turn is among them once. */
function createLowestTurns(threshold: number, label?: AgreementLabel) {
  let lowest: LowTurn[] = [];
  return {
    add(added: LowTurn): void {
      const { result } = added;
      const isWanted = label
        ? agreementOf(result) === label
        : outcomeOf(result, threshold) === "below";
      if (!isWanted) return;
      const known = lowest.find((low) => isSameTurn(low, added));
      if (known && overallOf(known) <= overallOf(added)) return;
      lowest = [...lowest.filter((low) => low !== known), added]
        .sort((a, b) => overallOf(a) - overallOf(b)).slice(0, label ? KEPT_OF_LABEL : KEPT);
    },
    list: () => lowest,
  };
}

function isSameTurn(a: LowTurn, b: LowTurn): boolean {
  return a.scenario === b.scenario && a.turn === b.turn;
}

/** A turn may fail a required check before its score is known. */
function overallOf({ result }: LowTurn): number {
  return result.scores[HEADLINE] ?? result.overall_bounds?.[0] ?? 0;
}
