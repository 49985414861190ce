import type { Comparison } from "../../figures/compare_stored.ts";
import { connect, Refused, runPath } from "../api.ts";
import { parseArguments, parseNumber } from "../arguments.ts";
import { type Command, UsageError } from "../command.ts";
import type { CliContext } from "../context.ts";
import { CRITERIA_HELP, criteriaOptions, findBaselineOf, parseCriteria } from "../criteria.ts";
import { finish } from "../follow.ts";

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
    const criteria = await parseCriteria(values, context);
    const { rubric, judge, votes, checks } = values;
    const body = {
      rubric: rubric === undefined ? undefined : await readRubric(rubric, context),
      judge,
      judge_votes: votes === undefined ? undefined : parseNumber(votes, {
        option: "--votes",
        min: 1,
        max: 9,
        isWhole: true,
      }),
      checks: checks === undefined ? undefined : await readChecks(checks, context),
    };
    const { concurrency } = criteria;
    await using api = await connect(context, { access: "write", concurrency });
    const { run_id: baseline } = await api.run(name);
    await findBaselineOf(baseline, criteria, { api, context });
    const started = await api.json<{ run_id: string; status: "running" }>(
      `POST ${runPath(baseline)}/rescore`,
      { body },
    ).catch((error) => {
      const [fault] = error instanceof Refused ? error.errors : [];
      if (!fault?.path.startsWith("checks")) throw error;
      const place = fault.path.replace(/^checks\.?/, "");
      throw new UsageError(`cannot use --checks ${checks}: ${place}: ${fault.message}`);
    });
    const code = await finish(started, criteria, { api, context });
    const { run_id: candidate } = started;
    if ((await api.run(candidate)).status !== "completed") return code;
    const query = { baseline, candidate };
    const { pairs } = await api.json<Comparison>("GET /compare", { query });
    const said = pairs![0]!.notes.filter(({ code }) => code === "other_measure");
    context.out.write(`\n${said.map(({ detail }) => detail).join("\n")}\n`);
    return code;
  },
};

async function readRubric(path: string, context: CliContext): Promise<string> {
  const text = (await context.readText(path)).trim();
  if (text === "") throw new UsageError(`cannot use --rubric ${path}: it is empty`);
  return text;
}

async function readChecks(path: string, context: CliContext): Promise<unknown> {
  try {
    return JSON.parse(await context.readText(path));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`cannot use --checks ${path}: it is not JSON: ${error.message}`);
  }
}
