import type { AgreementLabel, InteractionResult } from "../../test/interaction_result.ts";
import type { Scores } from "../../test/statistics.ts";
import { agreementOf, hasWrongTools, isBarring, isContradicting } from "../../test/barred.ts";
import { HEADLINE, outcomeOf } from "../../figures/passing.ts";
import { type RunSummary, summariseTurns } from "../../figures/run_summary.ts";
import type { ResultPart } from "../../figures/scenario_results.ts";
import { causesOf } from "../../figures/causes.ts";
import type { ExportSource } from "../format.ts";
import type { TurnOutcome } from "../../store/list_query.ts";
import type { TurnReader } from "../../store/whole_reader.ts";

/** Turns by what became of them, and the time that the endpoint took for them. */
export type Counts = Record<TurnOutcome, number> & { turns: number; latencyMs: number };

/** One scenario in numbers, over all its attempts. */
export interface ScenarioNumbers extends Counts {
  /** The scenario's id; the second of the same id has ` (2)` after it. */
  label: string;
  attempts: number;
  averages: Scores;
}

type TurnPart = Extract<ResultPart, { kind: "turn" }>;

export interface RunNumbers extends Counts, Omit<RunSummary, "scenarios"> {
  scenarios: ScenarioNumbers[];
  /** How many scenarios pass. */
  standings: RunSummary["scenarios"];
  /** Every score that any turn names, also if it never applied. */
  scoreNames: string[];
  /** Replies to look at first. */
  lowest: LowTurn[];
  /** Turns that people graded, their grades, and the sum of these. */
  graded: { turns: number; grades: number; sum: number };
  /** Turns that cannot pass, by the reason. */
  barred: { byChecks: number; byTools: number };
  /** Replies that contradict their reference, without those that a judge accepts. */
  contradicting: number;
}

/** Reads a run once. */
export async function readNumbers(
  { run, reader, threshold, label }: Pick<ExportSource, "run" | "threshold" | "label"> & {
    reader: Pick<TurnReader, "turnPages">;
  },
): Promise<RunNumbers> {
  const scenarios = labelScenarios(run.request.test_batch).map((label): ScenarioNumbers => ({
    label,
    attempts: 0,
    averages: {},
    ...noCounts(),
  }));
  const total = noCounts();
  const scoreNames = new Set<string>();
  const graded: RunNumbers["graded"] = { turns: 0, grades: 0, sum: 0 };
  const barred = { byChecks: 0, byTools: 0 };
  let contradicting = 0;
  const lowest = createLowestTurns(threshold, label);
  let place = { scenario: 0, attempt: 0 };
  let scenario = scenarios[0]!;

  function countTurn({ result: turn, turn: index }: TurnPart): void {
    lowest.add({ ...place, turn: index, result: turn });
    for (const counts of [scenario, total]) count(counts, { turn, threshold });
    for (const name in turn.scores) scoreNames.add(name);
    if (turn.grades) {
      graded.turns++;
      graded.grades += turn.grades.length;
      graded.sum += turn.grades.reduce((sum, { value }) => sum + value, 0);
    }
    if (turn.check_results?.some(isBarring)) barred.byChecks++;
    if (hasWrongTools(turn)) barred.byTools++;
    if (isContradicting(turn)) contradicting++;
  }

  const summary = await summariseTurns(reader, run, (part) => {
    if (part.kind === "scenario") {
      place = { scenario: part.index, attempt: 0 };
      scenario = scenarios[part.index]!;
    } else if (part.kind === "attempt") {
      place = { ...place, attempt: part.attempt };
      scenario.attempts++;
    } else if (part.kind === "turn") {
      countTurn(part);
    } else if (part.kind === "scenario end") {
      scenario.averages = part.summary.average_scores;
    }
  });
  return {
    ...summary,
    ...total,
    scenarios,
    standings: summary.scenarios,
    scoreNames: [...scoreNames],
    lowest: lowest.list(),
    graded,
    barred,
    contradicting,
  };
}

function count(
  counts: Counts,
  { turn, threshold }: { turn: InteractionResult; threshold: number },
): void {
  counts.turns++;
  counts[outcomeOf(turn, threshold)]++;
  counts.latencyMs += turn.latency_ms ?? 0;
}

function noCounts(): Counts {
  return { turns: 0, passed: 0, below: 0, failed: 0, missing: 0, unscored: 0, latencyMs: 0 };
}

/** Distinct names: readers of reports merge scenarios of the same name. */
export function labelScenarios(batch: { id: string }[]): string[] {
  const seen = new Map<string, number>();
  return batch.map(({ id }) => {
    const times = (seen.get(id) ?? 0) + 1;
    seen.set(id, times);
    return times === 1 ? id : `${id} (${times})`;
  });
}

/** An answered turn that did not pass, or that has a label, in its lowest attempt. */
export interface LowTurn {
  scenario: number;
  /** Counts from 0, as `attempt` does. */
  turn: number;
  attempt: number;
  result: InteractionResult;
  /** Why it does not pass; see `causesOf`. */
  why: string[];
}

const KEPT = 5;
/** The same if turns of one label are asked for. */
const KEPT_OF_LABEL = 50;

/** The lowest of the added turns, lowest first; of several attempts at a turn only the lowest. */
function createLowestTurns(threshold: number, label?: AgreementLabel) {
  let lowest: LowTurn[] = [];
  return {
    add(place: Omit<LowTurn, "why">): void {
      const { result } = place;
      const isWanted = label
        ? agreementOf(result) === label
        : outcomeOf(result, threshold) === "below";
      if (!isWanted) return;
      const added = { ...place, why: causesOf(result, threshold).map(({ text }) => text) };
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
  return result.scores[HEADLINE] ?? 0;
}
