import { createGradedReader } from "../figures/graded_reader.ts";
import type { RunReader } from "../store/store.ts";
import { thresholdOf } from "../figures/passing.ts";
import type { ScoreDescription } from "../score/score.ts";
import type { Comparison } from "../figures/compare_stored.ts";
import { listPairsByScore, type PairLists } from "../figures/pair_lists.ts";
import { type FallenReply, readFallen } from "./text/compared_replies.ts";
import type { GradeAgreement } from "../test/grades.ts";
import type { AgreementLabel } from "../test/interaction_result.ts";
import type { Detail } from "../figures/detail.ts";
import type { RunLeaks } from "../test/leaks.ts";
import type { StoredRun } from "../store/run_record.ts";
import { createWholeReader, type TurnReader } from "../store/whole_reader.ts";

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
  /** Texts quote the lowest replies of this label. */
  label?: AgreementLabel | undefined;
  /** The run as the candidate against an earlier one, for formats that can show it. */
  comparison?: ComparisonFacts & {
    /** Whether the run has failed if the two have nothing in common. */
    isRequired?: boolean;
    /** Scenarios that always passed before and never now, if they fail the run. */
    newFailures?: string[] | undefined;
  };
  /** What the scores mean, for formats that explain them. */
  scores?: ScoreDescription[];
  /** Of people with each other and with the judge, if there are grades. */
  agreement?: GradeAgreement | undefined;
  /** The score without what training files have, if that was checked. */
  leaks?: RunLeaks | undefined;
}

/** A comparison, and what is read for it if a format shows it. */
interface ComparisonFacts {
  result: Comparison;
  /** What only texts for people show; missing if it is not asked for. */
  fallen?: () => Promise<FallenReply[]>;
  /** By score, of two runs; what only the HTML report shows. */
  lists?: () => Promise<Map<string, PairLists>>;
  /** For formats that list the turns of the runs; missing if they are not asked for. */
  runs?: () => Promise<ExportSource[]>;
}

/** Compared runs that have ended. */
interface ComparisonSource extends ComparisonFacts {
  runs: () => Promise<ExportSource[]>;
  /** Whether a CSV file begins with a byte order mark; if unset, it does. */
  hasBom?: boolean;
  /** How much a JSON file says of each average. */
  detail?: Detail;
}

/** An option of some formats; `threshold of each` is that of compared runs. */
export type ExportOption = "rows" | "threshold" | "threshold of each";

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
  writeComparison(source: ComparisonSource): AsyncIterable<string>;
}

/** A stored run, ready to be exported, with the grades that people gave. */
export function exportSource(
  reader: RunReader,
  { run, threshold = thresholdOf(run.request) }: {
    run: StoredRun;
    threshold?: number | undefined;
  },
): ExportSource {
  const turns = run.status === "running" ? reader : createWholeReader(reader, run);
  return { run, reader: createGradedReader(turns, reader), threshold };
}

/** A comparison, ready to be exported; `threshold` is that of each run if unset. */
export function comparisonSource(
  reader: RunReader,
  { comparison: result, threshold, scores }: {
    comparison: Comparison;
    threshold?: number | undefined;
    scores?: ScoreDescription[];
  },
): ComparisonSource {
  const isPair = result.runs.length === 2 && result.pairs?.length === 1;
  return {
    result,
    async runs() {
      const sources: ExportSource[] = [];
      for (const { run_id } of result.runs) {
        const run = (await reader.getRun(run_id))!;
        sources.push({ ...exportSource(reader, { run, threshold }), ...scores && { scores } });
      }
      return sources;
    },
    ...(isPair && {
      fallen: () => readFallen(reader, result),
      lists() {
        const [baseline, candidate] = result.runs.map(({ run_id }) => run_id) as [string, string];
        const { scores } = result.pairs![0]!;
        return listPairsByScore(
          reader,
          { baseline, candidate },
          (common) => common.filter((name) => name in scores),
        );
      },
    }),
  };
}
