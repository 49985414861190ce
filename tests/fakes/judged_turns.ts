import type { ComparedTurn } from "../../eval/figures/turn_scores.ts";
import { recordedRun, type RecordedScenario } from "./recorded_run.ts";
import { compareTwo } from "./compare_two.ts";

/** What a comparison reads of a turn. */
export type Result = ComparedTurn["result"];

/** A judge's result; the judge is down if there is no grade. */
export const judge = (grade: number | null, model = "judge-1"): NonNullable<Result["judge"]> => ({
  model,
  grade: grade === null ? null : grade * 10,
  reason: null,
  votes: [],
  spread: null,
  ...(grade === null && { error: "judge_unavailable" }),
});

/** A turn as the service records it: `grade` is `undefined` if no judge is configured. */
export function turn(
  meaning: number,
  { grade, method = "use+stems", isOld = false }: {
    grade?: number | null;
    method?: string;
    isOld?: boolean;
  } = {},
): Result {
  const isMissing = grade === null;
  const parts = [meaning, ...(typeof grade === "number" ? [grade] : [])];
  const mean = parts.reduce((sum, part) => sum + part, 0) / parts.length;
  return {
    scores: {
      semantic_similarity: meaning,
      metadata_match: null,
      ...(grade !== undefined && { judge: grade }),
      overall: isMissing && !isOld ? null : mean,
    },
    score_methods: { semantic_similarity: method },
    ...(grade !== undefined && { judge: judge(grade) }),
    ...(isMissing && !isOld && {
      missing_scores: { judge: "judge_unavailable", overall: "without judge" },
    }),
  };
}

/** A run of one turn per scenario. */
export const run = (turns: Result[]): RecordedScenario[] =>
  turns.map((result, index) => [`s${index}`, [["t", result]]]);

/** Compares two runs. */
export const compare = (baseline: RecordedScenario[], candidate: RecordedScenario[]) =>
  compareTwo({ baseline: recordedRun(baseline), candidate: recordedRun(candidate) });

/** Similarities of twelve turns. */
export const meanings = Array.from({ length: 12 }, (_, index) => 0.75 + index / 50);

/** Turns with grades. */
export const graded = meanings.map((meaning) => turn(meaning, { grade: 0.4 }));
