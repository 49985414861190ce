import { digestBatch, nameBatch } from "../../store/run_record.ts";
import { loadScenarios, nameVersion, requireVersion } from "../../test/datasets/find_version.ts";
import { parseArguments, parseNumber } from "../arguments.ts";
import {
  type BatchOptions,
  createFileReader,
  fileName,
  FORMATS_HELP,
  readBatch,
  reportLeftOut,
  toRequest,
} from "../batch.ts";
import { type Command, EXIT, UsageError } from "../command.ts";
import type { CliContext } from "../context.ts";
import { followGroup, type Following, startRun } from "../report/follow.ts";
import {
  CRITERIA_HELP,
  criteriaOptions,
  findBaseline,
  parsePassCriteria,
  type PassCriteria,
} from "../pass_criteria.ts";
import type { NewGroup } from "../../store/store.ts";

const options = {
  endpoint: { type: "string" },
  model: { type: "string", multiple: true },
  attempts: { type: "string" },
  name: { type: "string" },
  history: { type: "string" },
  protocol: { type: "string" },
  format: { type: "string" },
  column: { type: "string", multiple: true },
  dataset: { type: "string" },
  only: { type: "string", multiple: true },
  "retry-failed": { type: "string" },
  ...criteriaOptions,
} as const;

export const run: Command = {
  summary: "run a batch against a model and report the result",
  help: `assay-eval run BATCH --endpoint URL --model ID [options]
assay-eval run BATCH --endpoint URL --model ID --model ID... [options]
assay-eval run --dataset NAME[@VERSION] --endpoint URL --model ID [options]
assay-eval run --retry-failed RUN [options]

Runs the batch's conversations with the model, scores the replies and stores
them. BATCH is a file of a format that --format names; "-" reads standard input.

  --endpoint URL     the model's address (default: the request body's)
  --model ID         the model (default: the request body's); may be repeated: then
                     each model gets a run, all runs are one group, and the
                     models are compared with each other, by overall or by the
                     score that --score names
  --attempts N       how often each conversation is run (default: 1)
  --history H        what turns are asked after: generated (default), reference
                     or both, which shows whether errors cascade
  --protocol P       how the endpoint is asked: openai or agent (default: found)
  --name NAME        the test's name (default: the body's, else the file's)
  --format FORMAT    what the file is (default: detected):
${FORMATS_HELP}  --column FIELD=COLUMN
                     the column of a table that holds a field: user_message,
                     reference_reply, system_prompt, scenario_id, metadata.NAME;
                     repeatable
  --dataset NAME     a stored dataset instead of BATCH, or NAME@VERSION; see
                     "assay-eval datasets --help"
  --only WHICH       only a part of the scenarios: an id, one of their "tags", or
                     failed:RUN, those that did not pass in every attempt of that
                     run; repeatable
  --retry-failed RUN ask again what failed in this run (an id, tag:NAME, "latest"):
                     calls without an answer, missing scores. The new run has the
                     other turns of the first
${CRITERIA_HELP}

With several models the gate and --baseline hold for each of them by itself,
and --output writes the comparison, or as JSONL and JUnit XML the turns of all models.

Exit code: 0 if the run meets its gate (by default: every scenario passes), 100
if it does not or regressed, 1 for an error, if the endpoint answers no turn, or
if there is no baseline to compare with, 130 after Ctrl-C. With several models:
1 if that holds for any of them, else 100 if any does not meet its gate. Which
model is better does not matter for it.

Example:
  assay-eval run support.jsonl --endpoint http://localhost:11434 --model llama3.2 \\
    --attempts 5 --min-pass-rate 0.9 --output report.xml --output comment.md
`,

  async execute(args, context) {
    const { values, positionals: [path = ""] } = parseArguments(args, {
      options,
      names: args.some((one) => /^--(?:dataset|retry-failed)(?:=|$)/.test(one)) ? [] : ["BATCH"],
    });
    const { "retry-failed": retried } = values;
    const other = retried === undefined ? undefined : Object.keys(values)
      .find((name) => name !== "retry-failed" && !(name in criteriaOptions));
    if (other !== undefined) {
      throw new UsageError(`--${other} cannot be used with --retry-failed: the run has its own`);
    }
    if (values.dataset !== undefined && (values.format ?? values.column) !== undefined) {
      throw new UsageError(
        "--format and --column are for files; a dataset was read when it was put",
      );
    }
    const { model: models = [] } = values;
    const comparesModels = models.length > 1;
    const wanted = await parsePassCriteria(values, context, { comparesModels });
    if (retried !== undefined) return await retryFailed(retried, { wanted, context });
    const batchOptions: BatchOptions = {
      ...wanted.budget && { budget: wanted.budget },
      ...values.endpoint !== undefined && { endpoint: values.endpoint },
      ...models.length === 1 && { model_id: models[0]! },
      ...models.length > 1 && { model_ids: models },
      ...values.name !== undefined && { test_name: values.name },
      ...values.history !== undefined && { history: values.history },
      ...values.protocol !== undefined && { protocol: values.protocol },
      ...wanted.threshold !== undefined && { pass_threshold: wanted.threshold },
      ...values.attempts !== undefined && { attempts: parseAttempts(values.attempts, context) },
    };
    const { request, targets, name } = values.dataset === undefined
      ? await readFile(path, { ...values, batchOptions, context })
      : await readDataset(values.dataset, { batchOptions, context });
    if (values.only) {
      const { selectScenarios } = await import("../subset.ts");
      await selectScenarios(request, { only: values.only, context });
    }
    const testName = request.test_name ??= name ?? nameBatch(request.test_batch);
    context.prepareScoring(request);
    const runs = targets?.map(({ endpoint, model_id, name }) => ({
      request: { ...request, endpoint, model_id },
      testName,
      name,
    }));
    for (const run of runs ?? [{ request }]) context.requireAllowed(run.request);

    await using store = await context.openStore({ isForRuns: true });
    const candidate = { request, testName, batchDigest: digestBatch(request.test_batch) };
    const criteria = await findBaseline(wanted, { reader: store, candidate, context });
    const manager = await context.createManager(store, criteria.concurrency);
    const following = { criteria, manager, store, context };
    const code = runs
      ? await startGroup(runs, following)
      : await startRun({ request, testName }, following);
    if (code === EXIT.interrupted) return code;
    const requests = runs?.map(({ request }) => request) ?? [request];
    for (const warning of await context.findShutdowns(requests)) {
      context.err.write(`warning: ${warning}\n`);
    }
    return code;
  },
};

/** The same with several models, which are compared. */
async function startGroup(runs: NewGroup["runs"], following: Following): Promise<number> {
  const started = await following.manager.startGroup({ runs });
  if (started.outcome !== "started") throw new Error("a group without a key already exists");
  const { id, active } = started;
  following.context.err.write(`group ${id}\n`);
  return await followGroup(id, { active, ...following });
}

interface ReadOptions {
  batchOptions: BatchOptions;
  context: CliContext;
}

/** A request from a file, and the name of the test. */
async function readFile(
  path: string,
  { format, column: columns, batchOptions, context }: ReadOptions & {
    format?: string;
    column?: string[];
  },
) {
  const { leftOut, ...read } = await readBatch(
    {
      text: await context.readText(path),
      name: path,
      format,
      columns,
      readFile: createFileReader(path, context),
    },
    { maxAttempts: context.maxAttempts, options: batchOptions },
  );
  reportLeftOut(leftOut, context);
  return { ...read, name: fileName(path) };
}

/** The same from a stored dataset. */
async function readDataset(text: string, { batchOptions, context }: ReadOptions) {
  const { parseReference } = await import("./datasets.ts");
  const reference = parseReference(text);
  await using reader = await context.openReader();
  const version = await requireVersion(reader, reference);
  const test_batch = await loadScenarios(reader, version);
  const read = toRequest({ test_batch, dataset: nameVersion(version) }, {
    maxAttempts: context.maxAttempts,
    options: batchOptions,
  });
  return { ...read, name: version.name };
}

function parseAttempts(text: string, { maxAttempts }: { maxAttempts: number }): number {
  return parseNumber(text, { option: "--attempts", min: 1, max: maxAttempts, isWhole: true });
}

/**
 * Runs what failed in a stored run once more, in a run of its own with the other turns of the first.
 * Throws `UsageError` if nothing failed.
 */
async function retryFailed(
  name: string,
  { wanted, context }: { wanted: PassCriteria; context: CliContext },
): Promise<number> {
  const [{ findRun }, { isRetryWanted, requireRetriable }] = await Promise.all([
    import("../find_run.ts"),
    import("../../run/retries.ts"),
  ]);
  await using store = await context.openStore({ isForRuns: true, mustExist: true });
  const parent = await findRun(store, name);
  const criteria = await findBaseline(wanted, { reader: store, candidate: parent, context });
  const manager = await context.createManager(store, criteria.concurrency);
  if (!await isRetryWanted(parent, store)) {
    throw new UsageError(`nothing to retry: every turn of run ${parent.id} is answered and scored`);
  }
  requireRetriable(parent, {
    runs: manager,
    endpoints: { requireAllowed: () => context.requireAllowed(parent.request) },
  });
  const { id: parentId, testName } = parent;
  const request = { ...parent.request, ...criteria.budget && { budget: criteria.budget } };
  return await startRun({ request, testName, parentId }, { criteria, manager, store, context });
}
