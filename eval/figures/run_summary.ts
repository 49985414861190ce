import { z } from "zod";
import { EvaluateResponse, TurnCounts } from "../test/evaluate_response.ts";
import type { InteractionResult } from "../test/interaction_result.ts";
import { mean } from "../score/mean.ts";
import { ROUNDING } from "../test/rounding.ts";
import { RunPassRates, Statistic } from "../test/statistics.ts";
import type { StoredRun } from "../store/run_record.ts";
import type { TurnReader } from "../store/whole_reader.ts";
import { isAskedHere } from "./summary/turn_counts.ts";
import { HEADLINE, outcomeOf, thresholdOf } from "./passing.ts";
import { PASSING, type ResultPart, resultParts } from "./scenario_results.ts";
import { createSpread, Spread } from "./summary/spread.ts";
import { createTotals, type EndedScenario, notesOf } from "./summary/summary.ts";
import { ALPHA } from "./summary/mean_interval.ts";
import { scenariosNeeded } from "./compare/statistics/planning.ts";

/** The number of turns by outcome. */
const OutcomeCounts = z.object({
  passed: z.int(),
  below: z.int(),
  failed: z.int(),
  missing: z.int(),
  unscored: z.int(),
});
type OutcomeCounts = z.infer<typeof OutcomeCounts>;

/**
 * The number of scenarios by outcome: one passes if all attempts do, and fails if none does.
 * `unscored`: none of its turns has a score, because no call was answered or nothing was expected.
 */
const ScenarioCounts = z.object({
  passed: z.int(),
  sometimes: z.int(),
  failed: z.int(),
  unscored: z.int(),
});

/** Tokens of the calls of this run, as far as the endpoint reported them. */
const Usage = z.object({ input_tokens: z.number(), output_tokens: z.number() });

/** An ended run in a list. Each score is a mean over scenarios. */
export const RunHeadline = z.object({
  scores: z.record(
    z.string(),
    Statistic.pick({ n: true, mean: true, ci95: true }),
  ),
  pass_threshold: z.number(),
  scenarios: ScenarioCounts,
  outcomes: OutcomeCounts,
  /** Replies that end at the token limit. */
  truncated: z.number(),
  usage: Usage,
  latency_ms: z.object({ p50: z.number(), p95: z.number() }).nullable().optional(),
  cost: z.object({ amount: z.number().nullable(), currency: z.string().nullable() }).optional(),
});
export type RunHeadline = z.infer<typeof RunHeadline>;

const Latency = z.object({ mean: z.number(), p50: z.number(), p95: z.number() });

/** Bins of equal width over [0, 1] in a histogram. */
const BINS = 20;
/** The most kinds of errors in a list. */
const MOST_ERRORS = 20;

const { average_scores, statistics, labels } = EvaluateResponse.shape.results.shape;

/** A run's results without its scenarios and texts, and data for charts. */
export const RunSummary = z.object({
  notes: EvaluateResponse.shape.notes,
  scored_by: EvaluateResponse.shape.scored_by,
  average_scores,
  statistics,
  ...RunPassRates.shape,
  ...TurnCounts.shape,
  labels,
  scenarios: ScenarioCounts,
  outcomes: OutcomeCounts,
  usage: Usage,
  /** Of answered turns, in milliseconds; `null` if there is none. */
  latency_ms: Latency.nullable(),
  /** Until the first token of replies that were streamed. */
  first_token_ms: Latency.optional(),
  /** Failed calls by code, the most frequent first. */
  errors: z.array(z.object({ code: z.string(), turns: z.int(), detail: z.string() })),
  /** By score: the number of turns in each of 20 bins of equal width. The last one includes 1. */
  histograms: z.record(z.string(), z.array(z.int())),
  /** Absent if the run has neither a second attempt nor a second vote. */
  spread: Spread.optional(),
  /**
   * By difference: how many scenarios like these show it to another run at most, with 80 % power. It
   * takes fewer if the scenarios that are hard for one model are hard for the other one, too.
   */
  scenarios_needed: z.record(z.string(), z.int()).optional(),
});
export type RunSummary = z.infer<typeof RunSummary>;

/**
 * Reads a run once and summarises it. A running one is summarised as far as it has come. `watch` is
 * called with each part.
 */
export async function summariseTurns(
  reader: Pick<TurnReader, "turnPages">,
  run: StoredRun,
  watch: (part: ResultPart) => void = () => {},
): Promise<RunSummary> {
  const totals = createTotals();
  const turns = createTurnSummary(thresholdOf(run.request));
  const scenarios = { passed: 0, sometimes: 0, failed: 0, unscored: 0 };
  const spreading = createSpread();
  for await (const parts of resultParts(reader, run, { attemptScores: PASSING })) {
    for (const part of parts) {
      watch(part);
      spreading.add(part);
      if (part.kind === "turn") {
        totals.addTurn(part.result);
        turns.add(part.result);
      }
      if (part.kind !== "scenario end") continue;
      scenarios[scenarioStanding(part)]++;
      totals.add(part);
    }
  }
  const rest = await totals.close();
  const spread = spreading.report();
  const scenarios_needed = planScenarios(rest.statistics[HEADLINE]);
  const { scored_by } = run.request as Pick<RunSummary, "scored_by">;
  return {
    notes: notesOf(run.request),
    ...(scored_by && { scored_by }),
    ...rest,
    scenarios,
    ...turns.report(),
    ...(spread && { spread }),
    ...(scenarios_needed && { scenarios_needed }),
  };
}

/** Differences that somebody may want to see. */
const PLANNED = [0.1, 0.05, 0.02];

/** As if scenarios of two models had nothing in common. Too few, or like ones, show no spread. */
function planScenarios(headline: Statistic | undefined): RunSummary["scenarios_needed"] {
  if (!headline?.ci95 || !headline.stderr || headline.stderr <= ROUNDING) return undefined;
  const stdev = headline.stderr * Math.sqrt(2 * headline.n);
  return Object.fromEntries(PLANNED.map((difference) => [
    difference,
    scenariosNeeded({ difference, stdev, alpha: ALPHA })!,
  ]));
}

function scenarioStanding(
  { passes: { attempts: all, passed }, attempts }: Pick<EndedScenario, "passes" | "attempts">,
): keyof z.infer<typeof ScenarioCounts> {
  if (all > 0 && passed === all) return "passed";
  if (passed > 0) return "sometimes";
  const isScored = attempts.some(({ interactions }) =>
    interactions.some(({ error, scores }) => !error && typeof scores[HEADLINE] === "number")
  );
  return isScored ? "failed" : "unscored";
}

export function headlineOf(
  { statistics, pass_threshold, scenarios, outcomes, truncated, usage, latency_ms, cost }:
    RunSummary,
): RunHeadline {
  const scores = Object.fromEntries(
    Object.entries(statistics).map(([name, { n, mean, ci95 }]) => [name, { n, mean, ci95 }]),
  );
  return {
    scores,
    pass_threshold,
    scenarios,
    outcomes,
    truncated,
    usage,
    latency_ms: latency_ms && { p50: latency_ms.p50, p95: latency_ms.p95 },
    ...(cost && { cost: { amount: cost.amount, currency: cost.currency } }),
  };
}

function createTurnSummary(threshold: number) {
  const outcomes = { passed: 0, below: 0, failed: 0, missing: 0, unscored: 0 };
  const usage = { input_tokens: 0, output_tokens: 0 };
  const latencies: number[] = [];
  const firstTokens: number[] = [];
  const errors = new Map<string, RunSummary["errors"][number]>();
  const histograms = new Map<string, number[]>();

  function countScore(name: string, value: number): void {
    const bins = histograms.getOrInsertComputed(name, () => new Array(BINS).fill(0));
    bins[Math.min(BINS - 1, Math.floor(value * BINS))]!++;
  }

  return {
    add(turn: InteractionResult): void {
      if (isAskedHere(turn)) {
        usage.input_tokens += turn.usage?.input_tokens ?? 0;
        usage.output_tokens += turn.usage?.output_tokens ?? 0;
      }
      outcomes[outcomeOf(turn, threshold)]++;
      for (const name in turn.scores) {
        const value = turn.scores[name];
        if (typeof value === "number") countScore(name, value);
      }
      if (!turn.error && turn.first_token_ms !== undefined) firstTokens.push(turn.first_token_ms);
      if (!turn.error) {
        if (turn.latency_ms !== null) latencies.push(turn.latency_ms);
        return;
      }
      const { code, detail } = turn.error;
      const known = errors.get(code);
      if (known) known.turns++;
      else errors.set(code, { code, turns: 1, detail });
    },
    report: () => ({
      outcomes,
      usage,
      latency_ms: describeLatency(latencies),
      ...(firstTokens.length > 0 && { first_token_ms: describeLatency(firstTokens)! }),
      errors: [...errors.values()].sort((a, b) => b.turns - a.turns).slice(0, MOST_ERRORS),
      histograms: Object.fromEntries(histograms),
    }),
  };
}

function describeLatency(latencies: number[]): RunSummary["latency_ms"] {
  if (latencies.length === 0) return null;
  const sorted = latencies.toSorted((a, b) => a - b);
  const quantile = (share: number) => sorted[Math.ceil(share * sorted.length) - 1]!;
  return { mean: mean(sorted)!, p50: quantile(0.5), p95: quantile(0.95) };
}
