import { z } from "zod";
import { RunNote } from "../test/evaluate_response.ts";

/**
 * Why a score was not compared at a turn. `not_in`: not planned in one run. `other_method`: computed in different ways. `other_expectation`: measured
 * against different references, labels, checks or tools. `no_common_part`: it is a mean, and none
 * of its parts can be compared.
 */
export const LeftOutReason = z.enum([
  "not_in_baseline",
  "not_in_candidate",
  "other_method",
  "other_expectation",
  "no_common_part",
]);
export type LeftOutReason = z.infer<typeof LeftOutReason>;

/** A score, or a part of one, that was not compared at some of the turns that both runs have. */
export const LeftOut = z.object({
  score: z.string(),
  turns: z.number(),
  reason: LeftOutReason,
  /** The methods, if they differ. */
  detail: z.string().nullable(),
}).meta({ id: "LeftOut" });
export type LeftOut = z.infer<typeof LeftOut>;

export type LeftOutCounter = ReturnType<typeof createLeftOutCounter>;

/** Counts what is left out; a turn counts once per score. */
export function createLeftOutCounter() {
  const counted = new Map<string, Omit<LeftOut, "turns"> & { turns: Set<object> }>();
  return {
    add(
      score: string,
      { reason, detail = null, turn }: {
        reason: LeftOutReason;
        detail?: string | null;
        turn: object;
      },
    ): void {
      const key = JSON.stringify([score, reason, detail]);
      const known = counted.get(key);
      if (known) known.turns.add(turn);
      else counted.set(key, { score, reason, detail, turns: new Set([turn]) });
    },
    list: (): LeftOut[] =>
      [...counted.values()].map(({ score, turns, reason, detail }) => ({
        score,
        turns: turns.size,
        reason,
        detail,
      })),
  };
}

/**
 * `inconclusive` does not mean equal: there is not enough evidence. `equal_enough`: the candidate is
 * not worse by as much as `min_difference`, and not shown to be better by it.
 */
export const Verdict = z.enum(["improved", "equal_enough", "regressed", "inconclusive"]).meta({
  id: "Verdict",
});
export type Verdict = z.infer<typeof Verdict>;

const BothCounts = z.object({ baseline: z.number(), candidate: z.number() });

/**
 * One score in both runs, over the turns at which both have it by the same method and against the
 * same expectation. `overall` and `metadata_match` are computed again from the parts for which this
 * holds; see `left_out`. Means are over scenarios; turns that failed or lack the score count 0.
 * `turns`, `turns_without_pair`, and `p` of scores that do not decide are sent with `detail=full`
 * only.
 */
export const ScoreComparison = z.object({
  baseline: z.number(),
  candidate: z.number(),
  /** Candidate − baseline. */
  difference: z.number(),
  /**
   * 0 is in it exactly if `p` is 0.05 or more. `null` for fewer than 5 scenarios; `ci95_reason` says
   * so.
   */
  ci95: z.tuple([z.number(), z.number()]).nullable(),
  ci95_reason: z.string().optional(),
  /**
   * Two-sided. That of the deciding score is not corrected; those of the others are corrected for
   * their number (Holm), and so are their intervals.
   */
  p: z.number().optional(),
  /** The number of compared scenarios. Those with the same questions count once. */
  scenarios: z.number(),
  turns: z.number().optional(),
  /** Turns in both runs at which this score could not be compared; they are left out. */
  turns_without_pair: z.number().optional(),
  /** Turns of single attempts where the score, or a part of it, is missing; if there are any. */
  missing: BothCounts.optional(),
  /** Calls without an answer, if there are any. */
  failed: BothCounts.optional(),
}).meta({ id: "ScoreComparison" });
export type ScoreComparison = z.infer<typeof ScoreComparison>;

/** One scenario in both runs. */
export const MovedScenario = z.object({
  scenario_id: z.string(),
  baseline: z.number(),
  candidate: z.number(),
  difference: z.number(),
}).meta({ id: "MovedScenario" });
export type MovedScenario = z.infer<typeof MovedScenario>;

/** The parts of a run without a counterpart in the other one. */
export const Unpaired = z.object({
  scenarios: z.array(z.string()),
  /** Turns of scenarios that are in both. */
  turns: z.array(z.object({ scenario_id: z.string(), interaction_id: z.string() })),
  scores: z.array(z.string()),
}).meta({ id: "Unpaired" });
export type Unpaired = z.infer<typeof Unpaired>;

/** The verdict on two runs by one score, which is chosen beforehand. */
export const ScoreVerdict = z.object({
  verdict: Verdict,
  /** Why the verdict is inconclusive; `null` if it is not. */
  reason: z.string().nullable(),
  /**
   * If it is inconclusive only because it would differ without the turns that failed or lack the
   * score: what it is if those that failed count 0, without those that lack the score.
   */
  verdict_as_counted: Verdict.optional(),
});
export type ScoreVerdict = z.infer<typeof ScoreVerdict>;

/** How a verdict was reached. */
export const Method = z.object({
  test: z.string(),
  null_hypothesis: z.string(),
  interval: z.string(),
  correction: z.string(),
  confidence: z.number(),
  /** Of the random sample that is used if there are too many permutations. */
  seed: z.number(),
});

/** Two of the compared runs. The baseline is the earlier one in their list. */
export const ComparedPair = ScoreVerdict.extend({
  /** Names of runs. */
  baseline: z.string(),
  candidate: z.string(),
  /** The name of the run that was shown to be better; `null` if neither was. */
  better: z.string().nullable(),
  /**
   * The deciding score first; without it, the verdict is inconclusive. Of two runs also the others:
   * they only describe what else changed.
   */
  scores: z.record(z.string(), ScoreComparison),
  /** What a reader should know before trusting the verdict. */
  notes: z.array(RunNote),
  /** What was not compared at turns that both runs have, and why. */
  left_out: z.array(LeftOut),
  /** The scenarios that moved most by the deciding score, the furthest first. */
  moved: z.object({
    score: z.string(),
    up: z.array(MovedScenario),
    down: z.array(MovedScenario),
  }).nullable(),
  /** Scenarios with the same id but different messages or expectations in the two runs. */
  changed: z.array(z.string()),
  only_in_baseline: Unpaired,
  only_in_candidate: Unpaired,
}).meta({ id: "ComparedPair" });
export type ComparedPair = z.infer<typeof ComparedPair>;

/** Each run against each other one. */
export const Verdicts = z.object({
  pairs: z.array(ComparedPair),
  /** Names of the compared runs that no other one is shown to beat. */
  best: z.array(z.string()),
  /** The score that decides. */
  decided_by: z.string(),
  /** The smallest difference that matters; absent if every difference does. */
  min_difference: z.number().optional(),
  /** The number of tests that the verdicts are corrected for: pairs that both have the score. */
  tests: z.int(),
  /** With `detail=full`. */
  method: Method.optional(),
});
export type Verdicts = z.infer<typeof Verdicts>;

/** Removes the fields of verdicts that only `detail=full` has. */
export function withoutDetail<T extends Pick<Verdicts, "pairs" | "method">>(
  { method: _, ...rest }: T,
  decidedBy: string,
) {
  const pairs = rest.pairs.map((pair) => ({
    ...pair,
    scores: Object.fromEntries(
      Object.entries(pair.scores).map(([name, score]) => {
        const { turns: _, turns_without_pair: __, ...shown } = score;
        const { p: ___, ...withoutP } = shown;
        return [name, name === decidedBy ? shown : withoutP];
      }),
    ),
  }));
  return { ...rest, pairs };
}
