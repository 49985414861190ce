import { datasetOf, nameBatch } from "../store/dataset.ts";
import { parseArguments, parseNumber } from "./arguments.ts";
import { readBatch } from "./batch.ts";
import type { Command } from "./command.ts";
import { followRun } from "./follow_run.ts";
import {
  CRITERIA_HELP,
  criteriaOptions,
  findBaseline,
  parsePassCriteria,
} from "./pass_criteria.ts";

const options = {
  endpoint: { type: "string" },
  model: { type: "string" },
  attempts: { type: "string" },
  name: { type: "string" },
  history: { type: "string" },
  format: { type: "string" },
  column: { type: "string", multiple: true },
  ...criteriaOptions,
} as const;

/** Runs a batch without a server. */
export const run: Command = {
  summary: "run a batch against a model and report the result",
  help: `assay-eval run BATCH --endpoint URL --model ID [options]

Runs the batch's conversations with the model, scores the replies and stores
them. BATCH is a file with one request body, an array of scenarios, or one
scenario per line; a CSV table; or a file of promptfoo (YAML), OpenAI evals
(JSONL) or LangSmith (CSV). "-" reads standard input.

  --endpoint URL     the model's address (default: the request body's)
  --model ID         the model (default: the request body's)
  --attempts N       how often each conversation is run (default: 1)
  --history H        what turns are asked after: generated (default), reference
                     or both, which shows whether errors cascade
  --name NAME        the test's name (default: the body's, else the file's)
  --format FORMAT    json, jsonl, csv, promptfoo, openai-evals or langsmith
                     (default: found out from the file)
  --column FIELD=COLUMN
                     the column of a table that holds a field: user_message,
                     reference_reply, scenario_id, metadata.NAME; repeatable
${CRITERIA_HELP}

Exit code: 0 passed, 100 below the threshold or regressed, 1 for an error, if
the endpoint answers no turn, or if there is no baseline to compare with, 130
after Ctrl-C.

Example:
  assay-eval run support.jsonl --endpoint http://localhost:11434 --model llama3.2 \\
    --attempts 5 --threshold 0.8 --output report.xml --output comment.md
`,

  async execute(args, context) {
    const { values, positionals: [path = ""] } = parseArguments(args, {
      options,
      names: ["BATCH"],
    });
    const wanted = await parsePassCriteria(values, context);
    const file = {
      text: await context.readText(path),
      name: path,
      format: values.format,
      columns: values.column,
    };
    const { request, leftOut } = await readBatch(file, {
      maxAttempts: context.maxAttempts,
      options: {
        ...values.endpoint !== undefined && { endpoint: values.endpoint },
        ...values.model !== undefined && { model_id: values.model },
        ...values.name !== undefined && { test_name: values.name },
        ...values.history !== undefined && { history: values.history },
        ...wanted.threshold !== undefined && { pass_threshold: wanted.threshold },
        ...values.attempts !== undefined && { attempts: parseAttempts(values.attempts, context) },
      },
    });
    for (const { what, count, line } of leftOut) {
      const often = count === 1 ? "" : `${count} times, `;
      context.err.write(`not taken over: ${what} (${often}first in line ${line})\n`);
    }
    const name = fileName(path);
    const testName = request.test_name ??= name ?? await nameBatch(request.test_batch);
    context.requireAllowed(request);

    const store = await context.openStore();
    try {
      const candidate = { request, testName, dataset: await datasetOf(request.test_batch) };
      const criteria = await findBaseline(wanted, { reader: store, candidate, context });
      const manager = context.createManager(store, criteria.concurrency);
      const started = await manager.start({ request, testName });
      if (started.outcome !== "started") {
        throw new Error("a run without an idempotency key already exists");
      }
      context.err.write(`run ${started.active.run.id}\n`);
      return await followRun(started.active, { criteria, manager, store, context });
    } finally {
      await store.close();
    }
  },
};

function parseAttempts(text: string, { maxAttempts }: { maxAttempts: number }): number {
  return parseNumber(text, { option: "--attempts", min: 1, max: maxAttempts, isWhole: true });
}

/** `tests/support.jsonl` → `support`. */
function fileName(path: string): string | undefined {
  if (path === "-") return undefined;
  return path.split(/[\\/]/).at(-1)!.replace(/\.[^.]+$/, "") || undefined;
}
