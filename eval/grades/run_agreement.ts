import type { GradeAgreement } from "../schemas/grade_agreement.ts";
import type { Scores } from "../schemas/statistics.ts";
import { requireScores } from "../results/detail.ts";
import { thresholdOf } from "../results/outcome.ts";
import { HEADLINE } from "../results/passing.ts";
import type { StoredRun } from "../store/runs/run_record.ts";
import type { RunReader } from "../store/store.ts";
import { turnsSoFar } from "../store/turns/whole_reader.ts";
import { describeAgreement, type GradedTurn } from "./agreement.ts";
import { createGradeJoin } from "./graded_reader.ts";

const JUDGED = "judge";

interface RunAgreementOptions {
  /** `judge` if unset, or `overall` if the run has no judge. */
  score?: string | undefined;
  /** The grade from which a turn passes; the run's own threshold if unset. */
  passThreshold?: number | undefined;
}

/** A graded turn with all of its scores. */
export type GradedTurnScores = Omit<GradedTurn, "score"> & { scores: Scores };

/**
 * The agreement of a run's grades with each other and with a score. The run may be running. Throws
 * 400 for a score that no turn has, unless there are no turns yet.
 */
export async function readGradeAgreement(
  reader: RunReader,
  run: StoredRun,
  { score: wanted, passThreshold = thresholdOf(run.request) }: RunAgreementOptions = {},
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
