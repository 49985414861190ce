import { hasReply } from "../../test/evaluate_request.ts";
import { readReplyRows, repliesOf } from "../../test/datasets/read_replies.ts";
import type { Scenario } from "../../test/scenario.ts";
import { connect } from "../api.ts";
import { parseArguments } from "../arguments.ts";
import {
  type Batch,
  createFileReader,
  fileName,
  FORMATS_HELP,
  readBatch,
  reportLeftOut,
  withOptions,
} from "../batch.ts";
import type { Fields } from "../../../shared/service/fields.ts";
import { type Command, UsageError } from "../command.ts";
import type { CliContext } from "../context.ts";
import { CRITERIA_HELP, criteriaOptions, parseCriteria } from "../criteria.ts";
import { datasetRoute } from "./datasets.ts";
import { evaluate } from "./run.ts";

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
    const criteria = await parseCriteria(values, context);
    const { dataset, format, name: test_name } = values;
    const file = fileName(path);
    const text = await context.readText(path);
    const rows = format === undefined ? readReplyRows(text) : undefined;
    if (rows && dataset === undefined) {
      throw new UsageError(
        "the file has replies only: name the dataset that they answer with --dataset",
      );
    }
    const { body, leftOut = [], lines }: Partial<Batch> & { body: Fields } = rows
      ? { body: { dataset, replies: rows } }
      : await readBatch({
        ...{ text, name: path, format, columns: values.column },
        readFile: createFileReader(path, context),
        hasReplies: true,
      });
    reportLeftOut(leftOut, context);
    if (!rows && !hasReply(body)) {
      throw new UsageError(
        "cannot score the file: no conversation in it has a reply (agent_reply)",
      );
    }
    const answered = rows || dataset === undefined
      ? body
      : { dataset, replies: await findReplies(body.test_batch as Scenario[], dataset, context) };
    const request = {
      ...dataset === undefined && { test_name: file },
      ...withOptions(answered, {
        model: [values.model ?? file ?? "replies"],
        test_name,
        pass_threshold: criteria.gate.threshold,
        budget: criteria.budget,
      }),
      endpoint: undefined, // nobody is asked, also if the file names one
    };
    return await evaluate(request, { criteria, context, lines });
  },
};

/** The replies of a file's conversations to those of a dataset. */
async function findReplies(answered: Scenario[], dataset: string, context: CliContext) {
  await using api = await connect(context, { access: "read" });
  const { path, query } = datasetRoute(dataset);
  const { test_batch } = await api.json<{ test_batch: Scenario[] }>(`GET ${path}`, { query });
  return repliesOf(answered, test_batch);
}
