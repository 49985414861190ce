import { readScores } from "../figures/turn_scores.ts";
import { thresholdOf } from "../figures/passing.ts";
import type { EvaluateRequest } from "../test/evaluate_request.ts";
import type { StoredRun } from "../store/run_record.ts";
import type { RunReader } from "../store/store.ts";
import { type ParsedValues, parseNumber } from "./arguments.ts";
import {
  type BaselineFile,
  type Candidate,
  findBaselineRun,
  parseBaselineFile,
} from "./baseline_file.ts";
import { UsageError } from "./command.ts";
import type { CliContext } from "./context.ts";
import { type Output, planOutputs } from "./report/outputs.ts";

/** The options of commands that run something and then report on it. */
export const criteriaOptions = {
  baseline: { type: "string" },
  "baseline-optional": { type: "boolean" },
  "fail-on-new-failures": { type: "boolean" },
  threshold: { type: "string" },
  "min-pass-rate": { type: "string" },
  "fail-on": { type: "string", multiple: true },
  score: { type: "string" },
  "min-difference": { type: "string" },
  output: { type: "string", multiple: true, short: "o" },
  concurrency: { type: "string" },
  "max-cost": { type: "string" },
  "max-tokens": { type: "string" },
} as const;

/** The same options for `--help`. */
export const CRITERIA_HELP =
  `  --baseline RUN     compare with this run; a regression fails. An id, tag:NAME
                     ("assay-eval tag"), a FILE.json that --output wrote, or
                     "latest": the last run of the same test or batch that is
                     complete, had at most 10 % failed calls and did not fail
                     itself
  --baseline-optional  if there is no baseline, or it has nothing in common with
                     the run, decide without a comparison
  --fail-on-new-failures
                     also fail if a scenario passed in every attempt of the
                     baseline and passes in none now; this is the default with
                     --baseline, --no-fail-on-new-failures turns it off
  --threshold X      a mean gate: the mean overall must reach X, 0 to 1, and no
                     required check and no expected tool call may fail; turns
                     pass from X on (default: the batch's pass_threshold, else 0.7)
  --min-pass-rate R  a pass rate gate: of the scenarios' attempts the share R must
                     pass, 0 to 1 (default without --threshold: 1, every scenario
                     passes)
  --fail-on contradiction
                     with either: a reply that contradicts its reference fails
  --score NAME       the score that decides the comparison (default: overall)
  --min-difference D the smallest difference that matters, 0 to 1: a run that is
                     worse by less is equal enough, also if that is shown
  --max-tokens N     end the run when the model has used so many tokens, as
                     interrupted; "resume" continues it with a higher cap
  --max-cost X       the same for its cost, in the currency of PRICES
  --concurrency N    conversations at once (default: EVAL_CONCURRENCY)
  -o, --output FILE  write the result, in the format of the file's extension, which
                     "assay-eval export --help" lists; may be repeated`;

/** What a run has to reach, and where its result goes. */
export interface PassCriteria {
  /** In [0, 1]; `undefined` if the request decides. */
  threshold: number | undefined;
  /** In [0, 1]; the share of attempts that must pass. */
  minPassRate: number | undefined;
  /** Whether a reply that contradicts its reference fails the run. */
  failsOnContradiction: boolean;
  /** A run's id; the word of the command line until `findBaseline`. */
  baseline: string | undefined;
  /** The baseline, if it is a file. */
  baselineFile?: BaselineFile;
  /** Whether the run may pass without a comparison. */
  isBaselineOptional: boolean;
  /** Whether a scenario that always passed in the baseline and never now fails the run. */
  failsOnNewFailures: boolean;
  /** The score that decides a comparison; unset means the headline. */
  decideBy: string | undefined;
  /** The smallest difference that matters in a comparison, in [0, 1]. */
  minDifference: number | undefined;
  outputs: Output[];
  concurrency: number | undefined;
  /** What the run may spend, instead of what its request says. */
  budget: EvaluateRequest["budget"];
}

/**
 * Throws for invalid options before a run costs anything. `comparesModels`: models are compared with
 * each other, also without a baseline.
 */
export async function parsePassCriteria(
  values: ParsedValues<typeof criteriaOptions>,
  context: CliContext,
  { comparesModels = false }: { comparesModels?: boolean } = {},
): Promise<PassCriteria> {
  const { baseline, threshold, concurrency } = values;
  const isBaselineOptional = values["baseline-optional"] ?? false;
  const ofComparison = [
    "score",
    "min-difference",
    "baseline-optional",
    "fail-on-new-failures",
  ] as const;
  for (const name of ofComparison) {
    const isOfModels = comparesModels && (name === "score" || name === "min-difference");
    const isUsed = baseline !== undefined || isOfModels;
    if (values[name] && !isUsed) {
      throw new UsageError(`--${name} requires --baseline`);
    }
  }
  return {
    threshold: threshold === undefined
      ? undefined
      : parseNumber(threshold, { option: "--threshold", min: 0, max: 1 }),
    minPassRate: values["min-pass-rate"] === undefined
      ? undefined
      : parseNumber(values["min-pass-rate"], { option: "--min-pass-rate", min: 0, max: 1 }),
    failsOnContradiction: parseFailOn(values["fail-on"]),
    baseline,
    isBaselineOptional,
    failsOnNewFailures: values["fail-on-new-failures"] ?? true,
    decideBy: values.score,
    minDifference: parseMinDifference(values["min-difference"]),
    outputs: await planOutputs(values.output ?? [], context),
    concurrency: concurrency === undefined ? undefined : parseNumber(concurrency, {
      option: "--concurrency",
      min: 1,
      max: Infinity,
      isWhole: true,
    }),
    budget: parseBudget(values),
  };
}

/** `undefined` if every difference matters. */
export function parseMinDifference(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return parseNumber(text, { option: "--min-difference", min: 0, max: 1 });
}

function parseFailOn(names: string[] = []): boolean {
  const unknown = names.find((name) => name !== "contradiction");
  if (unknown !== undefined) {
    throw new UsageError(`--fail-on must be contradiction, not ${unknown}`);
  }
  return names.length > 0;
}

/** What `--max-tokens` and `--max-cost` allow a run to spend; `undefined` without them. */
function parseBudget(
  values: ParsedValues<typeof criteriaOptions>,
): EvaluateRequest["budget"] {
  const { "max-tokens": tokens, "max-cost": cost } = values;
  if (tokens === undefined && cost === undefined) return undefined;
  const parse = (text: string, option: string, min: number, isWhole: boolean) =>
    parseNumber(text, { option, min, max: Infinity, isWhole });
  return {
    ...tokens !== undefined && { tokens: parse(tokens, "--max-tokens", 1, true) },
    ...cost !== undefined && { cost: parse(cost, "--max-cost", 1e-6, false) },
  };
}

/**
 * Finds the baseline before a run begins, because the run should not cost anything without one.
 * Throws `UsageError` if there is none and one is required, or if it lacks the deciding score.
 */
export async function findBaseline(
  criteria: PassCriteria,
  { reader, candidate, context }: {
    reader: RunReader;
    candidate: Candidate;
    context: Pick<CliContext, "err" | "readText">;
  },
): Promise<PassCriteria> {
  const { baseline: name, isBaselineOptional, decideBy } = criteria;
  if (name === undefined) return criteria;
  const isFile = name.endsWith(".json") && !name.startsWith("tag:");
  let baseline: string;
  try {
    baseline = isFile
      ? await context.readText(name)
      : await findBaselineRun(reader, { name, candidate });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    if (!isBaselineOptional) {
      throw new UsageError(`${error.message}\n(--baseline-optional: run without a comparison)`);
    }
    context.err.write(`${error.message}; nothing is compared\n`);
    return { ...criteria, baseline: undefined };
  }
  const baselineFile = isFile ? parseBaselineFile(name, baseline) : undefined;
  if (baselineFile) baseline = baselineFile.run.id;
  const found = { ...criteria, baseline, ...baselineFile && { baselineFile } };
  if (decideBy !== undefined) {
    await requireBaselineScore(withBaseline(reader, found), { baseline, decideBy });
  }
  context.err.write(`baseline ${baseline}\n`);
  return found;
}

/** The stored runs, and the baseline beside them if it is a file. */
export function withBaseline(reader: RunReader, { baselineFile }: PassCriteria): RunReader {
  return baselineFile?.over(reader) ?? reader;
}

async function requireBaselineScore(
  reader: RunReader,
  { baseline, decideBy }: { baseline: string; decideBy: string },
): Promise<void> {
  const { names: known } = await readScores(reader.turns(baseline));
  if (known.has(decideBy)) return;
  throw new UsageError(`the baseline has no score ${decideBy}; it has ${[...known].join(", ")}`);
}

/** The threshold of the command line, else the request's. */
export function thresholdFor(criteria: PassCriteria, run: StoredRun): number {
  return criteria.threshold ?? thresholdOf(run.request);
}
