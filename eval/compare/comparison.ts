/** `inconclusive` is not "equal": the data do not say. */
export type Verdict = "improved" | "regressed" | "inconclusive";

/** One score in both runs, over the turns that both have. Means are over scenarios. */
export interface ScoreComparison {
  baseline: number;
  candidate: number;
  /** Candidate − baseline. */
  difference: number;
  /** `null` where the scenarios are too few to bound it. */
  ci95: [number, number] | null;
  /** Of this score alone, two-sided. */
  p: number;
  /** After Holm's correction for the scores looked at; the verdict goes by this one. */
  p_adjusted: number;
  verdict: Verdict;
  /** Why a verdict is inconclusive; `null` where it is not. */
  reason: string | null;
  /** Scenarios that were compared. A scenario listed several times in a batch counts once. */
  scenarios: number;
  turns: number;
  /** Turns in both runs where only one of the two has this score; they are left out. */
  turns_without_pair: number;
}

/** One scenario in both runs. */
export interface MovedScenario {
  scenario_id: string;
  baseline: number;
  candidate: number;
  difference: number;
}

/** What has no counterpart in the other run. */
export interface Unpaired {
  scenarios: string[];
  /** Turns of scenarios that are in both. */
  turns: { scenario_id: string; interaction_id: string }[];
  scores: string[];
}

/** The answer to "is the candidate better than the baseline?". */
export interface Comparison {
  /** `regressed` where any score is, else `improved` where any is. */
  verdict: Verdict;
  scores: Record<string, ScoreComparison>;
  /** The scenarios that moved most by one score, the furthest first. */
  moved: { score: string; up: MovedScenario[]; down: MovedScenario[] } | null;
  /** Scenarios that are paired by their id but do not ask or expect the same in both runs. */
  changed: string[];
  only_in_baseline: Unpaired;
  only_in_candidate: Unpaired;
  method: {
    test: "paired sign-flip permutation test, clustered by scenario";
    correction: "Holm";
    confidence: 0.95;
    scores_looked_at: number;
    /** Of the random sample that stands for all permutations where they are too many. */
    seed: number;
  };
}
