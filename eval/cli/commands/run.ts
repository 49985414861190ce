import { parseArguments, parseNumber } from "../arguments.ts";
import {
  createFileReader,
  explainRefusal,
  fileName,
  FORMATS_HELP,
  readBatch,
  reportLeftOut,
  withOptions,
} from "../batch.ts";
import { type Command, EXIT, UsageError } from "../command.ts";
import { type Api, connect, runPath } from "../api.ts";
import type { CliContext } from "../context.ts";
import {
  type Criteria,
  CRITERIA_HELP,
  criteriaOptions,
  findBaseline,
  findBaselineOf,
  parseCriteria,
} from "../criteria.ts";
import { finish, type Started } from "../follow.ts";
import { asFields, asList, type Fields } from "../../../shared/service/fields.ts";

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
                     or both: a run of each, which are compared
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
    const { "retry-failed": retried, dataset, model = [] } = values;
    const other = retried === undefined ? undefined : Object.keys(values)
      .find((name) => name !== "retry-failed" && !(name in criteriaOptions));
    if (other !== undefined) {
      throw new UsageError(`--${other} cannot be used with --retry-failed: the run has its own`);
    }
    if (dataset !== undefined && (values.format ?? values.column) !== undefined) {
      throw new UsageError(
        "--format and --column are for files; a dataset was read when it was put",
      );
    }
    const criteria = await parseCriteria(values, context, { comparesModels: model.length > 1 });
    if (retried !== undefined) return await retryFailed(retried, criteria, context);
    const { body, leftOut = [], lines } = dataset !== undefined
      ? { body: { dataset } }
      : await readBatch({
        text: await context.readText(path),
        name: path,
        format: values.format,
        columns: values.column,
        readFile: createFileReader(path, context),
      });
    reportLeftOut(leftOut, context);
    const { endpoint, name: test_name, history, protocol, only, attempts } = values;
    const request = {
      ...dataset === undefined && { test_name: fileName(path) },
      ...withOptions(body, {
        ...{ model, endpoint, test_name, history, protocol, only, budget: criteria.budget },
        pass_threshold: criteria.gate.threshold,
        attempts: attempts === undefined ? undefined : parseNumber(attempts, {
          option: "--attempts",
          min: 1,
          max: Infinity,
          isWhole: true,
        }),
      }),
    };
    return await evaluate(request, { criteria, context, lines });
  },
};

/** Evaluates a body that the service has yet to validate. */
export async function evaluate(
  body: Fields,
  { criteria, context, lines }: {
    criteria: Criteria;
    context: CliContext;
    /** The file's line of each scenario. */
    lines?: number[] | undefined;
  },
): Promise<number> {
  const { test_batch: batch } = body;
  const need = { access: "create", concurrency: criteria.concurrency, batch } as const;
  await using api = await connect(context, need);
  let started: Started | undefined;
  try {
    await findBaseline(criteria, { api, context }, async (query) => {
      const headers = { prefer: "respond-async" };
      const response = await api.call("POST /evaluate", { query, body, headers });
      started = await response.json();
      return response.headers.get("x-baseline");
    });
  } catch (error) {
    throw explainRefusal(error, lines);
  }
  const code = await finish(started!, criteria, { api, context });
  if (code !== EXIT.interrupted) await warnOfShutdowns(body, { api, context });
  return code;
}

async function warnOfShutdowns(
  { endpoint, model_id, model_ids, targets }: Fields,
  { api, context }: { api: Api; context: CliContext },
): Promise<void> {
  const ids = model_ids === undefined ? [model_id] : asList(model_ids);
  const asked = targets === undefined
    ? ids.map((model_id) => ({ endpoint, model_id }))
    : asList(targets).map(asFields);
  const models = asked.filter(({ endpoint }) => endpoint !== undefined);
  const warnings = await api.findShutdowns?.(models as { endpoint: string; model_id: string }[]);
  for (const warning of warnings ?? []) context.err.write(`warning: ${warning}\n`);
}

/** Runs what failed in a stored run once more, in a run of its own with the other turns of the first. */
async function retryFailed(
  name: string,
  criteria: Criteria,
  context: CliContext,
): Promise<number> {
  const { concurrency, budget } = criteria;
  await using api = await connect(context, { access: "write", concurrency });
  const { run_id } = await api.run(name);
  await findBaselineOf(run_id, criteria, { api, context });
  const started = await api.json<Started>(`POST ${runPath(run_id)}/retry`, { body: { budget } });
  return await finish(started, criteria, { api, context });
}
