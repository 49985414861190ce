import { describeMeasureChange, measureSentences } from "../../figures/measure.ts";
import { listFieldErrors } from "../../../shared/service/field_errors.ts";
import { type MeasureInput, planRescore } from "../../run/rescores.ts";
import { Checks } from "../../test/checks.ts";
import { parseArguments, parseNumber } from "../arguments.ts";
import { type Command, UsageError } from "../command.ts";
import type { CliContext } from "../context.ts";
import { findRun } from "../find_run.ts";
import {
  CRITERIA_HELP,
  criteriaOptions,
  findBaseline,
  parsePassCriteria,
} from "../pass_criteria.ts";
import { startRun } from "../report/follow.ts";

const options = {
  rubric: { type: "string" },
  judge: { type: "string" },
  votes: { type: "string" },
  checks: { type: "string" },
  ...criteriaOptions,
} as const;

export const rescore: Command = {
  summary: "score the replies of a run again, by another rubric, judge or checks",
  help: `assay-eval rescore RUN [--rubric FILE] [--judge MODEL] [--checks FILE] [options]

Scores the replies of a completed run again, as a new run, and says what the
measure alone changed. No endpoint is asked. Only what changed is asked of the
judge; its other answers are taken over. RUN is an id, "latest", or "tag:NAME".

  --rubric FILE      instructions for the judge, as a text file
  --judge MODEL      the model that judges, at JUDGE_BASE_URL
  --votes N          how often the judge is asked for each turn, 1 to 9
  --checks FILE      a JSON list of checks for every turn, instead of the checks of
                     the scenarios; those of turns and conversations stay
${CRITERIA_HELP}

Exit code: the same as for "assay-eval run".

Example:
  assay-eval rescore latest --rubric strict.txt --judge gpt-5-mini
`,

  async execute(args, context) {
    const { values, positionals: [name = ""] } = parseArguments(args, { options, names: ["RUN"] });
    const wanted = await parsePassCriteria(values, context);
    const change: MeasureInput = {
      ...values.rubric !== undefined && { rubric: await readRubric(values.rubric, context) },
      ...values.judge !== undefined && { judge: values.judge },
      ...values.votes !== undefined && {
        judge_votes: parseNumber(values.votes, {
          option: "--votes",
          min: 1,
          max: 9,
          isWhole: true,
        }),
      },
      ...values.checks !== undefined && { checks: await readChecks(values.checks, context) },
    };
    await using store = await context.openStore({ isForRuns: true, mustExist: true });
    const parent = await findRun(store, name);
    const criteria = await findBaseline(wanted, { reader: store, candidate: parent, context });
    const manager = await context.createManager(store, criteria.concurrency);
    const run = await planRescore(parent, change, {
      runs: manager,
      scoring: await context.scoring(),
      client: new AbortController().signal, // Ctrl-C ends the process
    });
    let id = "";
    const code = await startRun(run, {
      criteria,
      manager,
      store,
      context,
      onStart: (started) => id = started,
    });
    if ((await store.getRecord(id))?.status !== "completed") return code;
    const candidate = (await store.getRun(id))!;
    const measure = await describeMeasureChange(store, { baseline: parent, candidate });
    context.out.write(`\n${measureSentences(measure!).join("\n")}\n`);
    return code;
  },
};

async function readRubric(path: string, context: CliContext): Promise<string> {
  const text = (await context.readText(path)).trim();
  if (text === "") throw new UsageError(`cannot use --rubric ${path}: it is empty`);
  return text;
}

async function readChecks(path: string, context: CliContext) {
  let value: unknown;
  try {
    value = JSON.parse(await context.readText(path));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`cannot use --checks ${path}: it is not JSON: ${error.message}`);
  }
  const result = Checks.safeParse(value);
  if (result.success) return result.data;
  const [first] = listFieldErrors(result.error, value);
  const place = first!.path === "" ? "" : `${first!.path}: `;
  throw new UsageError(`cannot use --checks ${path}: ${place}${first!.message}`);
}
