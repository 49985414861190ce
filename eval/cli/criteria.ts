import { type ParsedValues, parseNumber } from "./arguments.ts";
import { type Api, type Query, Refused } from "./api.ts";
import { UsageError } from "./command.ts";
import type { CliContext } from "./context.ts";
import type { GateInput } from "../report/gate.ts";
import { type Output, planOutputs } from "./outputs.ts";

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
export interface Criteria {
  /** Its `baseline` is the word of the command line until `findBaseline`. */
  gate: Partial<GateInput>;
  outputs: Output[];
  concurrency: number | undefined;
  /** What the run may spend, instead of what its request says. */
  budget: { tokens?: number; cost?: number } | undefined;
}

/**
 * Throws for invalid options before a run costs anything. `comparesModels`: models are compared with
 * each other, also without a baseline.
 */
export async function parseCriteria(
  values: ParsedValues<typeof criteriaOptions>,
  context: CliContext,
  { comparesModels = false }: { comparesModels?: boolean } = {},
): Promise<Criteria> {
  const ofModels = ["score", "min-difference"] as const;
  const ofBaseline = ["baseline-optional", "fail-on-new-failures"] as const;
  for (const name of [...comparesModels ? [] : ofModels, ...ofBaseline]) {
    if (values[name] && values.baseline === undefined) {
      throw new UsageError(`--${name} requires --baseline`);
    }
  }
  const parse = (
    name: "threshold" | "min-pass-rate" | "max-tokens" | "max-cost" | "concurrency",
    range: { min: number; max?: number; isWhole?: boolean },
  ) => {
    const text = values[name];
    return text === undefined
      ? undefined
      : parseNumber(text, { option: `--${name}`, max: Infinity, ...range });
  };
  const tokens = parse("max-tokens", { min: 1, isWhole: true });
  const cost = parse("max-cost", { min: 1e-6 });
  return {
    gate: {
      threshold: parse("threshold", { min: 0, max: 1 }),
      min_pass_rate: parse("min-pass-rate", { min: 0, max: 1 }),
      fail_on_contradiction: parseFailOn(values["fail-on"]),
      baseline: values.baseline,
      baseline_optional: values["baseline-optional"],
      fail_on_new_failures: values["fail-on-new-failures"] ?? true,
      decide_by: values.score,
      min_difference: parseMinDifference(values["min-difference"]),
    },
    outputs: await planOutputs(values.output ?? [], context),
    concurrency: parse("concurrency", { min: 1, isWhole: true }),
    budget: tokens === undefined && cost === undefined
      ? undefined
      : { ...tokens !== undefined && { tokens }, ...cost !== undefined && { cost } },
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

/**
 * Finds the baseline before a run begins, because the run should not cost anything without one.
 * `look` gives the id of the run that the words name, and may begin the run with it; it is called
 * without words if there is no baseline. Throws if there is none and one is required.
 */
export async function findBaseline(
  { gate }: Criteria,
  { api, context }: { api: Api; context: CliContext },
  look: (words: { baseline?: string; decide_by?: string | undefined }) => Promise<string | null>,
): Promise<void> {
  const { baseline: word, decide_by } = gate;
  if (word === undefined) return void await look({});
  try {
    const isFile = word.endsWith(".json") && !word.startsWith("tag:");
    const baseline = isFile ? await importFile(word, { api, context }) : word;
    const found = await look({ baseline, decide_by });
    gate.baseline = found ?? undefined;
    context.err.write(`baseline ${found}\n`);
  } catch (error) {
    const isMissing = error instanceof UsageError ||
      (error instanceof Refused && error.status === 404);
    if (!isMissing) throw error;
    if (!gate.baseline_optional) {
      throw new UsageError(`${error.message}\n(--baseline-optional: run without a comparison)`);
    }
    context.err.write(`${error.message}; nothing is compared\n`);
    gate.baseline = undefined;
    await look({});
  }
}

/** The same for a run that exists already. */
export async function findBaselineOf(
  id: string,
  criteria: Criteria,
  service: { api: Api; context: CliContext },
): Promise<void> {
  await findBaseline(criteria, service, async ({ baseline: name, decide_by }) => {
    if (name === undefined) return null;
    const query: Query = { name, decide_by };
    return (await service.api.json<{ run_id: string }>(`GET /runs/${id}/baseline`, { query }))
      .run_id;
  });
}

/** Stores a run that `--output` wrote, unless the service has it. */
async function importFile(
  path: string,
  { api, context }: { api: Api; context: CliContext },
): Promise<string> {
  const body = await context.readText(path);
  try {
    return (await api.json<{ run_id: string }>("POST /runs", { body })).run_id;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new Refused(error.status, `cannot use ${path} as baseline: ${error.message}`);
  }
}
