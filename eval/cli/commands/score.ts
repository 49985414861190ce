import { loadScenarios, nameVersion, requireVersion } from "../../test/datasets/find_version.ts";
import { readReplyRows, repliesOf } from "../../test/datasets/read_replies.ts";
import { digestBatch, nameBatch } from "../../store/run_record.ts";
import { parseArguments } from "../arguments.ts";
import {
  type BatchOptions,
  createFileReader,
  fileName,
  FORMATS_HELP,
  readBatch,
  reportLeftOut,
  toRequest,
} from "../batch.ts";
import { type Command, UsageError } from "../command.ts";
import type { CliContext } from "../context.ts";
import { startRun } from "../report/follow.ts";
import {
  CRITERIA_HELP,
  criteriaOptions,
  findBaseline,
  parsePassCriteria,
} from "../pass_criteria.ts";
import { parseReference } from "./datasets.ts";

const options = {
  dataset: { type: "string" },
  model: { type: "string" },
  name: { type: "string" },
  format: { type: "string" },
  column: { type: "string", multiple: true },
  ...criteriaOptions,
} as const;

export const score: Command = {
  summary: "score replies that exist already, without asking a model",
  help: `assay-eval score REPLIES [--dataset NAME[@VERSION]] [options]

Scores the replies of a file and stores them as a run. No endpoint is asked: of
these replies neither latency nor tokens nor tool calls are known, and scores and
checks that need them are missing. REPLIES is a file whose conversations have an
"agent_reply" in each turn, a file of another tool that has what a model said, or
one of replies only, for the conversations of a dataset: the output of an OpenAI
batch (its custom_id is the id of the scenario), the turns of a run ("assay-eval
export RUN --format jsonl"), or one JSON object per line with scenario_id,
agent_reply, and turn (from 0) in conversations of several turns. "-" reads
standard input.

Rows with the same id are attempts at one scenario, or "attempt_id" numbers them.

  --dataset NAME     the stored dataset that the replies answer, or NAME@VERSION
  --model ID         who answered (default: the file's name)
  --name NAME        the test's name (default: the dataset's, else the file's)
  --format FORMAT    what the file is (default: detected):
${FORMATS_HELP}  --column FIELD=COLUMN
                     the column of a table that holds a field; repeatable
${CRITERIA_HELP}

Exit code: the same as for "assay-eval run".

Example:
  assay-eval score batch_output.jsonl --dataset support --model gpt-4o
`,

  async execute(args, context) {
    const { values, positionals: [path = ""] } = parseArguments(args, {
      options,
      names: ["REPLIES"],
    });
    const wanted = await parsePassCriteria(values, context);
    const file = fileName(path);
    const batchOptions: BatchOptions = {
      endpoint: undefined,
      model_id: values.model ?? file ?? "replies",
      ...values.name !== undefined && { test_name: values.name },
      ...wanted.threshold !== undefined && { pass_threshold: wanted.threshold },
      ...wanted.budget && { budget: wanted.budget },
    };
    const text = await context.readText(path);
    const rows = values.format === undefined ? readReplyRows(text) : undefined;
    const read = { ...values, text, path, batchOptions, context };
    const { request, name } = values.dataset === undefined
      ? { ...await readAnswered(rows ? undefined : read), name: file }
      : await joinDataset(values.dataset, { ...read, rows });
    const testName = request.test_name ??= name ?? nameBatch(request.test_batch);
    context.prepareScoring(request);
    await using store = await context.openStore({ isForRuns: true });
    const candidate = { request, testName, batchDigest: digestBatch(request.test_batch) };
    const criteria = await findBaseline(wanted, { reader: store, candidate, context });
    const manager = await context.createManager(store, criteria.concurrency);
    return await startRun({ request, testName }, { criteria, manager, store, context });
  },
};

interface RepliesFile {
  text: string;
  path: string;
  format?: string | undefined;
  column?: string[] | undefined;
  batchOptions: BatchOptions;
  context: CliContext;
}

/** A request from a file that has the conversations, too. */
async function readAnswered(file: RepliesFile | undefined, isChecked = true) {
  if (!file) {
    throw new UsageError(
      "the file has replies only: name the dataset that they answer with --dataset",
    );
  }
  const { text, path, format, column: columns, batchOptions, context } = file;
  const { leftOut, request } = await readBatch(
    { text, name: path, format, columns, readFile: createFileReader(path, context) },
    {
      maxAttempts: context.maxAttempts,
      options: batchOptions,
      replies: isChecked ? "scored" : "read",
    },
  );
  reportLeftOut(leftOut, context);
  return { request };
}

/** A request for the conversations of a dataset, with the replies of a file. */
async function joinDataset(
  dataset: string,
  { rows, ...file }: RepliesFile & { rows: ReturnType<typeof readReplyRows> },
) {
  const { context, batchOptions: options } = file;
  await using reader = await context.openReader();
  const version = await requireVersion(reader, parseReference(dataset));
  const test_batch = await loadScenarios(reader, version);
  const replies = rows ??
    repliesOf((await readAnswered(file, false)).request.test_batch, test_batch);
  const { request } = toRequest({ test_batch, dataset: nameVersion(version), replies }, {
    maxAttempts: context.maxAttempts,
    options,
  });
  return { request, name: version.name };
}
