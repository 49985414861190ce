import { z } from "zod";
import { counted } from "../../shared/service/text.ts";
import { mean } from "../score/mean.ts";
import { describeAgreement, meanDifference } from "./rater_agreement.ts";
import { createGradeJoin } from "./graded_reader.ts";
import { bestThreshold } from "./grades/statistics.ts";
import { HEADLINE, outcomeOf, reaches, thresholdOf } from "./passing.ts";
import { measureDifference } from "../run/rescores.ts";
import { JudgeAgreement, MeanDifference, ThresholdFit } from "../test/grades.ts";
import type { StoredGrade } from "../store/grades.ts";
import type { StoredRun } from "../store/run_record.ts";
import type { RunReader } from "../store/store.ts";
import { turnsSoFar } from "../store/whole_reader.ts";

/** What another measure says of the same replies. */
export const MeasureChange = z.object({
  changed: z.array(z.string()).meta({
    description: "What differs: `judge`, `rubric`, `judge_votes`, `checks`, `embeddings`.",
  }),
  turns: z.int().meta({ description: "Replies that both runs have scored." }),
  verdicts: z.object({ to_passed: z.int(), to_not_passed: z.int() }).meta({
    description: "Turns that pass by one measure only.",
  }),
  score: z.string().meta({ description: "The score that is described: `judge`, else `overall`." }),
  scored: z.int().meta({ description: "Turns that have it in both runs." }),
  baseline: z.number().nullable().meta({ description: "Its mean over these turns." }),
  candidate: z.number().nullable(),
  shift: MeanDifference.nullable().meta({ description: "Candidate − baseline." }),
  flipped: z.number().nullable().meta({
    description: "The share of these turns that pass by the score of one run only.",
  }),
  threshold: ThresholdFit.nullable().meta({
    description:
      "The threshold of the candidate that best agrees with what passes in the baseline.",
  }),
  people: z.object({
    turns: z.int(),
    baseline: JudgeAgreement.nullable(),
    candidate: JudgeAgreement.nullable(),
  }).nullable().meta({ description: "How each agrees with the grades of people." }),
}).meta({ id: "MeasureChange" });
export type MeasureChange = z.infer<typeof MeasureChange>;

/** A run that scores again may be scored again itself. */
const MOST_GENERATIONS = 50;

/** The run whose replies a run has. */
async function originOf(run: StoredRun, reader: Pick<RunReader, "getRun">): Promise<string> {
  let current: StoredRun | undefined = run;
  let id = run.id;
  for (let step = 0; step < MOST_GENERATIONS && current?.request.rescored; step++) {
    if (current.parentId === null) break;
    id = current.parentId;
    current = await reader.getRun(id);
  }
  return id;
}

/** What the measure alone changed; `undefined` unless both runs have the same replies. */
export async function describeMeasureChange(
  reader: RunReader,
  { baseline, candidate }: Record<"baseline" | "candidate", StoredRun>,
): Promise<MeasureChange | undefined> {
  if (baseline.id === candidate.id) return undefined;
  if (!baseline.request.rescored && !candidate.request.rescored) return undefined;
  if (await originOf(baseline, reader) !== await originOf(candidate, reader)) return undefined;
  const pairs = await readPairs(reader, { baseline, candidate });
  const isJudged = pairs.some(({ judge }) => judge.every((value) => value !== null));
  const valuesOf = (pair: ScoredPair) => isJudged ? pair.judge : pair.overall;
  const scored = pairs.flatMap((pair) => {
    const [before, after] = valuesOf(pair);
    return before === null || after === null ? [] : [{ ...pair, before, after }];
  });
  const passFrom = thresholdOf(baseline.request);
  const graded = pairs.filter(({ grades }) => grades.length > 0);
  const score = isJudged ? "judge" : HEADLINE;
  const agreementOf = (side: 0 | 1) =>
    describeAgreement(
      graded.map((pair) => ({ ...pair, score: valuesOf(pair)[side] })),
      { score, passThreshold: passFrom },
    ).judge;
  return {
    changed: measureDifference(baseline.request, candidate.request),
    turns: pairs.length,
    verdicts: {
      to_passed: pairs.filter(({ passed }) => !passed[0] && passed[1]).length,
      to_not_passed: pairs.filter(({ passed }) => passed[0] && !passed[1]).length,
    },
    score,
    scored: scored.length,
    baseline: mean(scored.map(({ before }) => before)),
    candidate: mean(scored.map(({ after }) => after)),
    shift: meanDifference(
      scored.map(({ scenario, before, after }) => ({ scenario, value: after - before })),
    ),
    flipped: mean(
      scored.map(({ before, after }) =>
        Number(reaches(before, passFrom) !== reaches(after, passFrom))
      ),
    ),
    threshold: bestThreshold(scored.map(({ before, after }) => [after, before]), passFrom),
    people: graded.length === 0
      ? null
      : { turns: graded.length, baseline: agreementOf(0), candidate: agreementOf(1) },
  };
}

/** One reply by both measures: first the baseline's. */
interface ScoredPair {
  scenario: number;
  passed: [boolean, boolean];
  judge: [number | null, number | null];
  overall: [number | null, number | null];
  grades: Pick<StoredGrade, "author" | "value">[];
}

/** Both runs have the same turns in the same order. */
async function readPairs(
  reader: RunReader,
  runs: Record<"baseline" | "candidate", StoredRun>,
): Promise<ScoredPair[]> {
  const { baseline, candidate } = runs;
  const thresholds = [thresholdOf(baseline.request), thresholdOf(candidate.request)] as const;
  const joins = [baseline, candidate].map(({ id }) => createGradeJoin(reader.grades(id)));
  const others = turnsSoFar(reader, candidate)[Symbol.asyncIterator]();
  const pairs: ScoredPair[] = [];
  let next = await others.next();
  for await (const { result: before, ...place } of turnsSoFar(reader, baseline)) {
    while (!next.done && comparePlaces(next.value, place) < 0) next = await others.next();
    if (next.done) break;
    if (comparePlaces(next.value, place) !== 0) continue;
    const { result: after } = next.value;
    const grades = (await Promise.all(joins.map((join) => join.of(place)))).flat();
    const both = (name: string): [number | null, number | null] => [
      before.scores[name] ?? null,
      after.scores[name] ?? null,
    ];
    pairs.push({
      scenario: place.scenario,
      passed: [
        outcomeOf(before, thresholds[0]) === "passed",
        outcomeOf(after, thresholds[1]) === "passed",
      ],
      judge: both("judge"),
      overall: both(HEADLINE),
      grades,
    });
  }
  return pairs;
}

type Place = { scenario: number; attempt: number; turn: number };

function comparePlaces(a: Place, b: Place): number {
  return a.scenario - b.scenario || a.attempt - b.attempt || a.turn - b.turn;
}

/** The same for people, a sentence each. */
export function measureSentences(change: MeasureChange): string[] {
  const { verdicts: { to_passed, to_not_passed }, turns, score, shift, threshold, people } = change;
  const round = (value: number) => value.toFixed(3);
  const percent = (value: number) => `${Math.round(value * 100)} %`;
  const what = change.changed.length === 1
    ? `the ${nameOfPart(change.changed[0]!)} alone`
    : change.changed.map(nameOfPart).join(", ");
  const alpha = (one: { alpha: number | null } | null | undefined) =>
    typeof one?.alpha === "number" ? one.alpha.toFixed(2) : "unknown";
  return [
    `${counted(to_passed + to_not_passed, "verdict")} of ${turns} changed by ${what}: ` +
    `${to_passed} now ${to_passed === 1 ? "passes" : "pass"}, ${to_not_passed} no longer`,
    ...(shift
      ? [
        `on the same replies ${score} is ${round(change.baseline!)} and ${
          round(change.candidate!)
        }: shifted by ${round(shift.mean)}${
          shift.ci95 ? ` (${round(shift.ci95[0])} to ${round(shift.ci95[1])})` : ""
        }, ${percent(change.flipped!)} of ${change.scored} pass by one only` +
        (threshold
          ? `; from ${threshold.threshold} on they agree best (${percent(threshold.agreement)})`
          : ""),
      ]
      : []),
    ...(people
      ? [
        `agreement with people on ${
          counted(people.turns, "graded reply").replace("replys", "replies")
        }` +
        ` (alpha): ${alpha(people.baseline)} before, ${alpha(people.candidate)} now`,
      ]
      : []),
  ];
}

function nameOfPart(part: string): string {
  return part.replace("judge_votes", "number of votes").replace("embeddings", "encoder");
}
