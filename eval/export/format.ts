import type { ScoreDescription } from "../assess/scores/score.ts";
import type { Comparison } from "../compare/comparison.ts";
import type { ComparedSides, ComparisonDetails } from "./text/compared_sides.ts";
import type { GradeAgreement } from "../schemas/grades.ts";
import type { Detail } from "../results/detail.ts";
import type { GroupReport } from "../groups/group_report.ts";
import type { RunNoise } from "../schemas/noise.ts";
import type { StoredRun } from "../store/runs/run_record.ts";
import type { TurnReader } from "../store/turns/whole_reader.ts";

/** A run that has ended, in any way. */
export interface ExportSource {
  run: StoredRun;
  /** Some formats read the turns twice, and must find the same both times. */
  reader: TurnReader;
  /** Whether a CSV file begins with a byte order mark; if unset, it does. */
  hasBom?: boolean;
  /** What a row of CSV and a line of JSONL is; a turn if unset. */
  rows?: "turns" | "scores";
  /** How much a JSON file says of each average. */
  detail?: Detail;
  /** A turn whose `overall` is below this has not passed. */
  threshold: number;
  /** The run as the candidate against an earlier one, for formats that can show it. */
  comparison?: {
    baseline: string;
    result: Comparison;
    /** Whether the run has failed if the two have nothing in common. */
    isRequired?: boolean;
    /** Scenarios that always passed before and never now, if they fail the run. */
    newFailures?: string[];
    /** What only texts for people show; missing if it is not asked for. */
    sides?: () => Promise<ComparedSides>;
    /** What only the HTML report shows; missing if it is not asked for. */
    details?: () => Promise<ComparisonDetails>;
  };
  /** What the scores mean, for formats that explain them. */
  scores?: ScoreDescription[];
  /** Where the noise of the scores comes from, for formats that can show it. */
  noise?: RunNoise;
  /** Of people with each other and with the judge, if there are grades. */
  agreement?: GradeAgreement | undefined;
}

/** A group whose runs have ended. */
interface GroupSource {
  report: GroupReport;
  /** Its runs, for formats that list their turns. */
  runs: () => Promise<ExportSource[]>;
  /** Whether a CSV file begins with a byte order mark; if unset, it does. */
  hasBom?: boolean;
  /** How much a JSON file says of each average. */
  detail?: Detail;
}

/** An option of some formats; `group threshold` is that of exported groups. */
export type ExportOption = "rows" | "noise" | "noise of scores" | "threshold" | "group threshold";

/** A format of exported runs. Text comes in pieces, so that no run has to fit into memory. */
export interface ExportFormat {
  readonly name: string;
  /** What such a file holds, as the documents say it. */
  readonly about: string;
  /** The ending of a file's name, without the dot. */
  readonly extension: string;
  readonly contentType: string;
  /** The options that change what it writes. */
  readonly uses: readonly ExportOption[];
  write(source: ExportSource): AsyncIterable<string>;
  writeGroup(group: GroupSource): AsyncIterable<string>;
}
