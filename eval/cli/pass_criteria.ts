import { readScores } from "../compare/turn_scores.ts";
import { thresholdOf } from "../results/outcome.ts";
import type { RunReader, StoredRun } from "../store/store.ts";
import { type ParsedValues, parseNumber } from "./arguments.ts";
import { UsageError } from "./command.ts";
import { findRun } from "./find_run.ts";
import type { CliContext } from "./context.ts";
import { type Output, planOutputs } from "./outputs.ts";

/** The options of commands that run something and then report on it. */
export const criteriaOptions = {
  baseline: { type: "string" },
  threshold: { type: "string" },
  score: { type: "string", multiple: true },
  output: { type: "string", multiple: true, short: "o" },
  concurrency: { type: "string" },
} as const;

/** The same options for `--help`. */
export const CRITERIA_HELP = `  --baseline RUN     compare with this run; a regression fails
  --threshold X      the mean overall that passes, 0 to 1 (default: the batch's
                     pass_threshold, else 0.7)
  --score NAME       compare only this score; may be repeated
  --concurrency N    conversations at once (default: EVAL_CONCURRENCY)
  -o, --output FILE  write the result; .json .jsonl .csv .xml (JUnit) or .md;
                     may be repeated`;

/** What a run has to reach, and where its result goes. */
export interface PassCriteria {
  /** In [0, 1]; `undefined` if the request decides. */
  threshold: number | undefined;
  /** A run's id, or `latest` until `findBaseline`. */
  baseline: string | undefined;
  /** The scores to compare; empty means all. */
  scores: string[];
  outputs: Output[];
  concurrency: number | undefined;
}

/** Reports everything that is wrong with these options before a run costs anything. */
export async function parsePassCriteria(
  values: ParsedValues<typeof criteriaOptions>,
  context: CliContext,
): Promise<PassCriteria> {
  const { baseline, threshold, concurrency } = values;
  if (values.score && baseline === undefined) throw new UsageError("--score requires --baseline");
  return {
    threshold: threshold === undefined
      ? undefined
      : parseNumber(threshold, { option: "--threshold", min: 0, max: 1 }),
    baseline,
    scores: values.score ?? [],
    outputs: await planOutputs(values.output ?? [], context),
    concurrency: concurrency === undefined ? undefined : parseNumber(concurrency, {
      option: "--concurrency",
      min: 1,
      max: Infinity,
      isWhole: true,
    }),
  };
}

/**
 * Finds the baseline before a run begins, because `latest` means another run afterwards. Throws
 * `UsageError` if it does not exist or lacks a score that is to be compared.
 */
export async function findBaseline(
  criteria: PassCriteria,
  reader: RunReader,
): Promise<PassCriteria> {
  if (criteria.baseline === undefined) return criteria;
  const { id } = await findRun(reader, criteria.baseline);
  if (criteria.scores.length > 0) {
    const { names: known } = await readScores(reader.turns(id));
    const unknown = criteria.scores.filter((name) => !known.has(name));
    if (unknown.length > 0) {
      throw new UsageError(
        `the baseline has no score ${unknown.join(", ")}; it has ${[...known].join(", ")}`,
      );
    }
  }
  return { ...criteria, baseline: id };
}

/** The threshold of the command line, else the request's. */
export function thresholdFor(criteria: PassCriteria, run: StoredRun): number {
  return criteria.threshold ?? thresholdOf(run.request);
}
