import type { GradeAgreement } from "../../schemas/grades.ts";
import type { InteractionResult } from "../../schemas/interaction_result.ts";
import type { RunNoise } from "../../schemas/noise.ts";
import type { Run } from "../../api/schemas/run_schemas.ts";
import type { ScoreDescription } from "../../assess/scores/score.ts";
import type { StoredComparison } from "../../compare/compare_stored.ts";
import type { PairedScenarioRow, PairedTurnRow } from "../../compare/pair_lists.ts";
import type { GroupReport } from "../../groups/group_report.ts";
import type { RunSummary } from "../../results/run_summary.ts";
import type { TurnRow } from "../../run/events/turn_view.ts";

/** What a report of a run holds. Every turn has its whole interaction. */
export interface RunReport {
  run: Run;
  summary: RunSummary;
  scores: ScoreDescription[];
  scenarios: { id: string; description: string }[];
  pass_threshold: number;
  turns: (TurnRow & { interaction: InteractionResult })[];
  noise: RunNoise;
  agreement: GradeAgreement;
}

/** What a report of a comparison holds; see `eval/export/text/compared_sides.ts`. */
export interface ComparisonReport {
  comparison: StoredComparison;
  pairs: {
    scenarios: Record<string, PairedScenarioRow[]>;
    turns: Record<string, PairedTurnRow[]>;
  };
  replies: Record<string, InteractionResult>;
}

/** The data of a report, of any kind. */
export type ReportData = RunReport | ComparisonReport | { group: GroupReport };
