import type {
  AuthorPair,
  BiasBand,
  GradeAgreement,
  JudgeAgreement,
  PeopleAgreement,
} from "../schemas/grade_agreement.ts";
import { mean } from "../assess/mean.ts";
import { countItems } from "../assess/text/overlap.ts";
import { reaches } from "../results/passing.ts";
import type { StoredGrade } from "../store/grades/grade.ts";
import { bestThreshold, fitThreshold, type Pair, spearman } from "./threshold.ts";
import { differenceInterval } from "../results/mean_interval.ts";
import { ROUNDING } from "../schemas/rounding.ts";

/** A turn that people graded. */
export interface GradedTurn {
  scenario: number;
  /** The score that is compared with the grades; `null` if the turn does not have it. */
  score: number | null;
  /** The latest grade of each author; at least one. */
  grades: Pick<StoredGrade, "author" | "value" | "label">[];
}

interface AgreementOptions {
  /** The name of the score. */
  score: string;
  /** The present threshold, of grades and of the score. */
  passThreshold: number;
}

/** Bands of equal width over [0, 1]. */
const BANDS = 5;
const MOST_PAIRS = 100;

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
    people: describePeople(turns, passThreshold),
    judge: describeJudge(turns, { score, passThreshold }),
  };
}

function nameOf(author: string): string | null {
  return author === "" ? null : author;
}

function describeAuthors(turns: GradedTurn[]): GradeAgreement["authors"] {
  const byAuthor = Map.groupBy(turns.flatMap(({ grades }) => grades), ({ author }) => author);
  return [...byAuthor].sort(([a], [b]) => a < b ? -1 : 1).map(([author, grades]) => ({
    author: nameOf(author),
    grades: grades.length,
    mean: mean(grades.map(({ value }) => value))!,
  }));
}

function describePeople(turns: GradedTurn[], passThreshold: number): PeopleAgreement {
  const values = turns.map(({ grades }) => grades.map(({ value }) => value));
  const labels = turns.map(({ grades }) => grades.flatMap(({ label }) => label ?? []));
  return {
    turns: turns.filter(({ grades }) => grades.length >= 2).length,
    alpha_interval: krippendorffAlpha(values, "interval"),
    alpha_pass: krippendorffAlpha(
      values.map((own) => own.map((value) => Number(reaches(value, passThreshold)))),
      "nominal",
    ),
    alpha_labels: krippendorffAlpha(labels, "nominal"),
    pairs: describePairs(turns),
  };
}

function describePairs(turns: GradedTurn[]): AuthorPair[] {
  const found = new Map<string, { authors: [string, string]; graded: GradedPair[] }>();
  for (const { scenario, grades } of turns) {
    const ordered = grades.toSorted((a, b) => a.author < b.author ? -1 : 1);
    for (const [index, one] of ordered.entries()) {
      for (const other of ordered.slice(index + 1)) {
        const key = JSON.stringify([one.author, other.author]);
        found.getOrInsertComputed(key, () => ({ authors: [one.author, other.author], graded: [] }))
          .graded.push({ scenario, pair: [one.value, other.value] });
      }
    }
  }
  return [...found.values()].sort((a, b) => b.graded.length - a.graded.length)
    .slice(0, MOST_PAIRS).map(({ authors: [one, other], graded }) => ({
      authors: [nameOf(one), nameOf(other)],
      turns: graded.length,
      spearman: spearman(graded.map(({ pair }) => pair)),
      mean_difference: differenceOf(graded),
    }));
}

interface GradedPair {
  scenario: number;
  pair: Pair;
}

function differenceOf(graded: GradedPair[]) {
  return meanDifference(
    graded.map(({ scenario, pair: [one, other] }) => ({ scenario, value: one - other })),
  );
}

function describeJudge(
  turns: GradedTurn[],
  { score, passThreshold }: AgreementOptions,
): JudgeAgreement | null {
  const graded = turns.flatMap(({ scenario, score, grades }): GradedPair[] =>
    score === null ? [] : [{ scenario, pair: [score, mean(grades.map(({ value }) => value))!] }]
  );
  if (graded.length === 0) return null;
  const pairs = graded.map(({ pair }) => pair);
  const passes = pairs.map((pair) => pair.map((value) => Number(reaches(value, passThreshold))));
  return {
    score,
    turns: graded.length,
    missing: turns.length - graded.length,
    alpha_interval: krippendorffAlpha(pairs, "interval"),
    alpha_pass: krippendorffAlpha(passes, "nominal"),
    spearman: spearman(pairs),
    mean_difference: differenceOf(graded)!,
    bands: describeBands(graded),
    threshold: {
      best: bestThreshold(pairs, passThreshold)!,
      present: fitThreshold(pairs, { threshold: passThreshold, passFrom: passThreshold }),
    },
  };
}

/** Only bands with turns. */
function describeBands(graded: GradedPair[]): BiasBand[] {
  const byBand = Map.groupBy(
    graded,
    ({ pair: [score] }) => Math.min(BANDS - 1, Math.floor(score * BANDS)),
  );
  return [...byBand].sort(([a], [b]) => a - b).map(([band, own]) => ({
    from: band / BANDS,
    to: (band + 1) / BANDS,
    turns: own.length,
    score: mean(own.map(({ pair: [score] }) => score))!,
    people: mean(own.map(({ pair: [, people] }) => people))!,
    bias: differenceOf(own)!,
  }));
}

interface TurnDifference {
  scenario: number;
  value: number;
}

/**
 * The mean of some differences, with a 95 % interval over scenarios, because turns of one scenario
 * are not independent. `null` without differences; no interval for fewer than 5 scenarios.
 */
export function meanDifference(
  differences: TurnDifference[],
): { mean: number; ci95: [number, number] | null } | null {
  const average = mean(differences.map(({ value }) => value));
  if (average === null) return null;
  const scenarios = [...Map.groupBy(differences, ({ scenario }) => scenario).values()];
  const means = scenarios.map((own) => mean(own.map(({ value }) => value))!);
  return { mean: average, ci95: differenceInterval(means) };
}

/** `nominal` values are equal or not; `interval` values differ by their squared distance. */
type Metric = "nominal" | "interval";

/**
 * Krippendorff's alpha: 1 is perfect agreement, 0 is agreement by chance. Each unit has the values
 * of its raters; a unit with fewer than two values does not count. `null` if no unit has two
 * values, or if all values are the same. K. Krippendorff, "Computing Krippendorff's
 * Alpha-Reliability" (2011).
 */
export function krippendorffAlpha(
  units: readonly (readonly (number | string)[])[],
  metric: Metric,
): number | null {
  const disagreement = metric === "nominal" ? ofCategories : ofDistances;
  const pairable = units.filter((values) => values.length >= 2);
  const values = pairable.flat();
  const expected = disagreement(values) / (values.length - 1);
  if (!(expected > 0)) return null;
  const observed = pairable.reduce(
    (sum, unit) => sum + disagreement(unit) / (unit.length - 1),
    0,
  );
  return 1 - observed / expected;
}

/** Over all ordered pairs of values: how many differ. */
function ofCategories(values: readonly (number | string)[]): number {
  const equal = [...countItems(values).values()].reduce((sum, count) => sum + count ** 2, 0);
  return values.length ** 2 - equal;
}

/** Over all ordered pairs of values: the sum of their squared distances; 0 if all are the same. */
function ofDistances(values: readonly (number | string)[]): number {
  const numbers = values as readonly number[];
  const lowest = numbers.reduce((least, value) => Math.min(least, value), Infinity);
  const highest = numbers.reduce((most, value) => Math.max(most, value), -Infinity);
  if (highest - lowest <= ROUNDING) return 0; // rounding errors of the mean would not be 0
  const average = mean(numbers)!;
  const squares = numbers.reduce((sum, value) => sum + (value - average) ** 2, 0);
  return 2 * numbers.length * squares;
}
