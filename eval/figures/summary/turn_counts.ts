import type { CheckCount, CheckResult } from "../../test/checks.ts";
import { agreementOf } from "../../test/barred.ts";
import type { TurnCounts } from "../../test/evaluate_response.ts";
import type { AgreementLabel, InteractionResult } from "../../test/interaction_result.ts";
import { withoutNoise } from "../../test/rounding.ts";
import { Cost, type CostSum } from "../../test/cost.ts";

/** The most distinct reasons, and methods, that are counted; usually there are few. */
const MAX_DIFFERENT = 100;
/** The most distinct checks that are counted; each turn may have its own. */
const MAX_CHECKS_COUNTED = 1_000;

/**
 * Counts over the turns of a run: missing scores with reasons, methods of scores, kinds of facts in
 * which replies differ from their references, truncated replies, and costs.
 */
export function createTurnCounter() {
  const missing = new Map<string, TurnCounts["missing_scores"][number]>();
  const methods: TurnCounts["score_methods"] = {};
  const differences = new Map<string, number>();
  const checks = new Map<string, CheckCount>();
  const costs = { cost: createCostSum(), judge_cost: createCostSum() };
  const agreements = new Map<AgreementLabel, number>();
  let truncatedTurns = 0;

  function countMissing(score: string, reason: string): void {
    const key = JSON.stringify([score, reason]);
    const known = missing.get(key);
    if (known) known.turns++;
    else if (missing.size < MAX_DIFFERENT) missing.set(key, { score, reason, turns: 1 });
  }

  function countMethod(score: string, method: string): void {
    const counts = methods[score] ??= {};
    const count = counts[method];
    if (count === undefined && Object.keys(counts).length >= MAX_DIFFERENT) return;
    counts[method] = (count ?? 0) + 1;
  }

  function countCheck({ name, type, required, value }: CheckResult): void {
    const key = JSON.stringify([name, type, required]);
    let count = checks.get(key);
    if (!count) {
      if (checks.size >= MAX_CHECKS_COUNTED) return;
      count = { name, type, required, passed: 0, failed: 0, missing: 0 };
      checks.set(key, count);
    }
    if (value === null) count.missing++;
    else if (value === 1) count.passed++;
    else count.failed++;
  }

  return {
    add(turn: Partial<InteractionResult>): void {
      if (isAskedHere(turn)) costs.cost.add(turn.cost);
      else costs.cost.addElsewhere(turn.cost);
      if (isScoredHere(turn)) costs.judge_cost.add(turn.judge_cost);
      else costs.judge_cost.addElsewhere(turn.judge_cost);
      const { missing_scores, score_methods, differs_in, check_results } = turn;
      const agreement = agreementOf(turn);
      if (turn.truncated) truncatedTurns++;
      for (const score in missing_scores) countMissing(score, missing_scores[score]!);
      for (const score in score_methods) countMethod(score, score_methods[score]!);
      for (const kind of differs_in ?? []) {
        differences.set(kind, (differences.get(kind) ?? 0) + 1);
      }
      if (agreement) agreements.set(agreement, (agreements.get(agreement) ?? 0) + 1);
      check_results?.forEach(countCheck);
    },
    /** The most frequent first. */
    report: (): TurnCounts => ({
      missing_scores: [...missing.values()].sort((a, b) => b.turns - a.turns),
      score_methods: methods,
      differs_in: Object.fromEntries([...differences].sort(([, a], [, b]) => b - a)),
      ...(agreements.size > 0 && {
        agreements: Object.fromEntries([...agreements].sort(([, a], [, b]) => b - a)),
      }),
      truncated: truncatedTurns,
      ...(checks.size > 0 && {
        check_counts: [...checks.values()].sort((a, b) => b.failed - a.failed),
      }),
      ...costs.cost.report("cost"),
      ...costs.judge_cost.report("judge_cost"),
    }),
  };
}

/** False if the turn was asked, and paid for, by the run that this one retries. */
export function isAskedHere(
  { copied_from_run, reply_from_run }: Partial<InteractionResult>,
): boolean {
  return copied_from_run === undefined && reply_from_run === undefined;
}

/** False if the turn was scored by the run that this one retries. */
function isScoredHere({ copied_from_run }: Partial<InteractionResult>): boolean {
  return copied_from_run === undefined;
}

/**
 * Adds up the costs of turns. Unknown costs (`null`) and costs in another currency than the first
 * are counted as `unknown`, because different currencies cannot be added.
 */
export function createCostSum() {
  const sum: CostSum = { amount: null, currency: null, turns: 0, unknown: 0 };
  let elsewhere: string | undefined;
  return {
    /** `undefined` if there were no prices. A caller's own field of this name is ignored. */
    add(cost: Cost | null | undefined): void {
      if (cost === undefined || (cost !== null && !Cost.safeParse(cost).success)) return;
      sum.currency ??= cost?.currency ?? null;
      if (cost === null || cost.currency !== sum.currency) {
        sum.unknown++;
        return;
      }
      sum.amount = (sum.amount ?? 0) + cost.amount;
      sum.turns++;
    },
    /** A cost that another run has paid, which is not added. */
    addElsewhere(cost: Cost | null | undefined): void {
      elsewhere ??= cost?.currency;
    },
    /** The sum by its name; empty without prices, and 0 if other runs have paid everything. */
    report<Name extends string>(name: Name): Partial<Record<Name, CostSum>> {
      const amount = sum.amount && withoutNoise(sum.amount);
      if (sum.turns + sum.unknown > 0) {
        return { [name]: { ...sum, amount } } as Record<Name, CostSum>;
      }
      if (elsewhere === undefined) return {};
      return { [name]: { ...sum, amount: 0, currency: elsewhere } } as Record<Name, CostSum>;
    },
  };
}

/** Adds sums by the same rules; `undefined` if there are none. */
export function addCosts(sums: (CostSum | undefined)[]): CostSum | undefined {
  const all = sums.filter((sum) => sum !== undefined);
  if (all.length === 0) return undefined;
  const currency = all.find((sum) => sum.currency !== null)?.currency ?? null;
  const isCounted = (sum: CostSum) => sum.amount !== null && sum.currency === currency;
  const counted = all.filter(isCounted);
  return {
    amount: counted.length === 0
      ? null
      : withoutNoise(counted.reduce((total, sum) => total + sum.amount!, 0)),
    currency,
    turns: counted.reduce((total, { turns }) => total + turns, 0),
    unknown: all.reduce(
      (total, sum) => total + sum.unknown + (isCounted(sum) ? 0 : sum.turns),
      0,
    ),
  };
}
