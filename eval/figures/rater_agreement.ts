import type { GradeAgreement } from "../test/grades.ts";
import type { Scores } from "../test/statistics.ts";
import { requireScores } from "./detail.ts";
import { HEADLINE, thresholdOf } from "./passing.ts";
import type { StoredRun } from "../store/run_record.ts";
import type { RunReader } from "../store/store.ts";
import { turnsSoFar } from "../store/whole_reader.ts";
import { createGradeJoin } from "./graded_reader.ts";
import { mean } from "../score/mean.ts";
import type { StoredGrade } from "../store/grades.ts";
import { bestThreshold, fitThreshold, krippendorffAlpha, type Pair } from "./grades/statistics.ts";
import { differenceInterval } from "./summary/mean_interval.ts";

const JUDGED = "judge";

export type GradedTurnScores = Omit<GradedTurn, "score"> & { scores: Scores };

/**
 * The agreement of a run's grades with each other and with a score: `judge` if it is unset, or
 * `overall` if the run has no judge. The run may be running. Throws 400 for a score that no turn
 * has, unless there are no turns yet.
 */
export async function readGradeAgreement(
  reader: RunReader,
  run: StoredRun,
  { score: wanted, passThreshold = thresholdOf(run.request) }: {
    score?: string | undefined;
    passThreshold?: number | undefined;
  } = {},
): Promise<GradeAgreement> {
  const grades = createGradeJoin(reader.grades(run.id));
  const turns: GradedTurnScores[] = [];
  const names = new Set<string>();
  for await (const turn of turnsSoFar(reader, run)) {
    for (const name in turn.result.scores) names.add(name);
    const found = await grades.of(turn);
    if (found.length === 0) continue;
    const { scenario, result: { scores } } = turn;
    turns.push({ scenario, grades: found, scores });
  }
  if (wanted !== undefined && names.size > 0) {
    requireScores(names, { wanted: [wanted], parameter: "score" });
  }
  return { run_id: run.id, ...gradeAgreementOf(turns, { score: wanted, passThreshold }) };
}

/** `readGradeAgreement` for an export; `undefined` if nobody has graded the run. */
export async function readAgreementIfGraded(
  reader: RunReader,
  run: StoredRun,
): Promise<GradeAgreement | undefined> {
  const { value } = await reader.grades(run.id)[Symbol.asyncIterator]().next();
  return value && await readGradeAgreement(reader, run);
}

/** The same from turns that have been read. */
export function gradeAgreementOf(
  turns: GradedTurnScores[],
  { score: wanted, passThreshold }: { score?: string | undefined; passThreshold: number },
): Omit<GradeAgreement, "run_id"> {
  const isJudged = turns.some(({ scores }) => typeof scores[JUDGED] === "number");
  const score = wanted ?? (isJudged ? JUDGED : HEADLINE);
  const scored = turns.map((turn) => ({ ...turn, score: turn.scores[score] ?? null }));
  return describeAgreement(scored, { score, passThreshold });
}

export interface GradedTurn {
  scenario: number;
  /** The score that is compared with the grades; `null` if the turn does not have it. */
  score: number | null;
  /** At least one. */
  grades: Pick<StoredGrade, "author" | "value">[];
}

interface AgreementOptions {
  score: string;
  /** The present threshold, of grades and of the score. */
  passThreshold: number;
}

/** The agreement of people with each other, and of a score with them. */
export function describeAgreement(
  turns: GradedTurn[],
  { score, passThreshold }: AgreementOptions,
): Omit<GradeAgreement, "run_id"> {
  return {
    grades: turns.reduce((sum, { grades }) => sum + grades.length, 0),
    graded_turns: turns.length,
    authors: describeAuthors(turns),
    pass_threshold: passThreshold,
    people: {
      turns: turns.filter(({ grades }) => grades.length >= 2).length,
      alpha: krippendorffAlpha(turns.map(({ grades }) => grades.map(({ value }) => value))),
    },
    judge: describeScore(turns, { score, passThreshold }),
  };
}

function describeAuthors(turns: GradedTurn[]): GradeAgreement["authors"] {
  const byAuthor = Map.groupBy(turns.flatMap(({ grades }) => grades), ({ author }) => author);
  return [...byAuthor].sort(([a], [b]) => a < b ? -1 : 1).map(([author, grades]) => ({
    author: author === "" ? null : author,
    grades: grades.length,
    mean: mean(grades.map(({ value }) => value))!,
  }));
}

interface GradedPair {
  scenario: number;
  pair: Pair;
}

function describeScore(
  turns: GradedTurn[],
  { score, passThreshold }: AgreementOptions,
): GradeAgreement["judge"] {
  const graded = turns.flatMap(({ scenario, score, grades }): GradedPair[] =>
    score === null ? [] : [{ scenario, pair: [score, mean(grades.map(({ value }) => value))!] }]
  );
  const pairs = graded.map(({ pair }) => pair);
  const best = bestThreshold(pairs, passThreshold);
  if (!best) return null;
  const differences = graded.map(({ scenario, pair: [score, people] }) => ({
    scenario,
    value: score - people,
  }));
  return {
    score,
    turns: graded.length,
    missing: turns.length - graded.length,
    alpha: krippendorffAlpha(pairs),
    mean_difference: meanDifference(differences)!,
    threshold: {
      best,
      present: fitThreshold(pairs, { threshold: passThreshold, passFrom: passThreshold }),
    },
  };
}

/**
 * The mean of some differences, with a 95 % interval over scenarios, because turns of one scenario
 * are not independent. `null` without differences; no interval for fewer than 5 scenarios.
 */
export function meanDifference(
  differences: { scenario: number; value: number }[],
): { mean: number; ci95: [number, number] | null } | null {
  const average = mean(differences.map(({ value }) => value));
  if (average === null) return null;
  const scenarios = [...Map.groupBy(differences, ({ scenario }) => scenario).values()];
  const means = scenarios.map((own) => mean(own.map(({ value }) => value))!);
  return { mean: average, ci95: differenceInterval(means) };
}
