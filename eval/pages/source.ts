import type { GradeAgreement, GradeInput, PlacedGrade } from "../test/grades.ts";
import type { RunLeaks } from "../test/leaks.ts";
import type { GradeList, TurnGrades } from "../http/grade_routes.ts";
import type { Comparison } from "../figures/compare_stored.ts";
import type {
  PairedScenarioPage,
  PairedTurnPage,
  ScenarioPage,
  ShownTurn,
  TurnPage,
} from "../http/schemas/turn_schemas.ts";
import type { Run } from "../http/schemas/run_schemas.ts";
import type { ScoreDescription } from "../score/score.ts";
import type { RunSummary } from "../figures/run_summary.ts";

/** Parameters of a list, as the API has them; those without a value are left out. */
export type Parameters = Record<string, string | number | undefined>;

/** What most views of a run show. */
export interface RunAndSummary {
  run: Run;
  summary: RunSummary;
}

/** What a replay of the reference implementations' values found. */
interface SelfTest {
  scores: Record<string, { compared: number; largest_deviation: number | null }>;
}

/** What the views of runs and comparisons read: from the service, or from a report's own data. */
export interface Source {
  /** False in a report: what needs the service is not offered. */
  readonly isLive: boolean;
  run(id: string): Promise<Run>;
  summary(id: string): Promise<RunSummary>;
  /** The last run of the same test before this one, if there is any. */
  lastRun(run: Run): Promise<Run | null>;
  scenarios(id: string, parameters: Parameters): Promise<ScenarioPage>;
  turns(id: string, parameters: Parameters): Promise<TurnPage>;
  /** `place` is `scenario/attempt_id/turn`. */
  turn(id: string, place: string): Promise<ShownTurn>;
  scores(): Promise<{ scores: ScoreDescription[] }>;
  selfTest(): Promise<SelfTest>;
  comparison(parameters: Parameters): Promise<Comparison>;
  pairedScenarios(parameters: Parameters): Promise<PairedScenarioPage>;
  pairedTurns(parameters: Parameters): Promise<PairedTurnPage>;
  agreement(id: string, parameters: Parameters): Promise<GradeAgreement>;
  turnGrades(id: string, place: string): Promise<TurnGrades>;
  // What is only used where `isLive`; the script of a report has no requests.
  leaks?(id: string): Promise<RunLeaks>;
  grades?(id: string, parameters: Parameters): Promise<GradeList>;
  grade?(id: string, place: string, grade: GradeInput): Promise<PlacedGrade>;
  deleteGrade?(id: string, place: string, author: string): Promise<void>;
}

/** The source of this page. */
export let source: Source;

/** Called once, before the first view is shown. */
export function setSource(chosen: Source): void {
  source = chosen;
}
