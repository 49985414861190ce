import { showScore } from "../../report/text/text_form.ts";
import { HEADLINE } from "../../figures/passing.ts";
import type { RunHeadline } from "../../figures/run_summary.ts";
import { meanSoFar } from "../../run/active_run.ts";
import { restingProgress, viewRun } from "../../run/view.ts";
import { RUN_STATUSES, type RunRecord, TAG } from "../../store/run_record.ts";
import type { RunFilter } from "../../store/store.ts";
import { parseArguments, parseLimit } from "../arguments.ts";
import { type Command, EXIT, UsageError } from "../command.ts";
import { jsonText, renderTable } from "../report/terminal_form.ts";
import { findRun } from "../find_run.ts";

const options = {
  limit: { type: "string" },
  name: { type: "string" },
  model: { type: "string" },
  status: { type: "string" },
  group: { type: "string" },
  json: { type: "boolean" },
} as const;

export const runs: Command = {
  summary: "list the stored runs, newest first",
  help: `assay-eval runs [options]

  --limit N      how many (default: 20)
  --name NAME    only runs of this test
  --model ID     only runs of this model
  --status S     only ${RUN_STATUSES.join(", ")}
  --group ID     only runs of one group: those of an "assay-eval run" with
                 several models, which "assay-eval compare ID" compares
  --json         print them as {"runs": […]}, each as GET /runs shows it

Example:
  assay-eval runs --model llama3.2 --status completed
`,

  async execute(args, context) {
    const { values } = parseArguments(args, { options, names: [] });
    const filter: RunFilter = {
      limit: parseLimit(values.limit),
      ...values.name !== undefined && { testName: values.name },
      ...values.group !== undefined && { groupId: values.group },
      ...values.model !== undefined && { modelId: values.model },
      ...values.status !== undefined && { status: parseStatus(values.status) },
    };
    await using reader = await context.openReader();
    const page = await reader.listRuns(filter);
    const found = await Promise.all(page.runs.map(async (run) => ({
      run,
      tally: run.tally ?? await reader.tally(run.id),
    })));
    const headlines = await reader.headlines(page.runs.map(({ id }) => id));
    const headlineOf = ({ id }: RunRecord): RunHeadline | null =>
      JSON.parse(headlines.get(id) ?? "null");
    if (values.json) {
      const runs = found.map(({ run, tally }) => ({
        ...viewRun(run, restingProgress(run, tally)),
        headline: headlineOf(run),
      }));
      context.out.write(jsonText({ runs }));
      return EXIT.passed;
    }
    const rows = found.map(({ run, tally }) => {
      const headline = headlineOf(run);
      const overall = showScore(headline ? headline.scores[HEADLINE]?.mean : meanSoFar(tally));
      const mark = run.status === "completed" ? "" : " so far";
      return toRow(run, { done: tally.done, overall: overall + mark });
    });
    const header = ["run", "started", "status", "turns", "overall", "model", "test"];
    if (page.runs.some(({ group }) => group)) {
      header.push("group");
      for (const [index, { run }] of found.entries()) rows[index]!.push(run.group?.id ?? "");
    }
    context.out.write(rows.length === 0 ? "no runs found\n" : renderTable(header, rows));
    return EXIT.passed;
  },
};

function toRow(
  run: RunRecord,
  { done, overall }: { done: number; overall: string },
): string[] {
  return [
    run.id,
    new Date(run.createdAt).toISOString().slice(0, 16).replace("T", " "),
    run.status,
    done < run.totalTurns ? `${done}/${run.totalTurns}` : `${done}`,
    overall,
    run.modelId,
    run.testName,
  ];
}

function parseStatus(text: string) {
  const status = RUN_STATUSES.find((status) => status === text);
  if (status) return status;
  throw new UsageError(`--status must be one of ${RUN_STATUSES.join(", ")}, not "${text}"`);
}

export const tag: Command = {
  summary: "give a run a name, for --baseline tag:NAME",
  help: `assay-eval tag RUN NAME

From then on NAME refers to this run, and no longer to the one that it referred
to before. RUN is an id, "latest", or "tag:NAME". EVAL_KEEP_DAYS does not delete
a run with a tag.

Example:
  assay-eval tag latest main
  assay-eval run support.jsonl --endpoint http://localhost:11434 --model llama3.2 \\
    --baseline tag:main
`,

  async execute(args, context) {
    const { positionals: [run = "", name = ""] } = parseArguments(args, {
      options: {},
      names: ["RUN", "NAME"],
    });
    if (!TAG.test(name)) {
      throw new UsageError(
        `cannot use the name "${name}": it must have 1 to 100 letters, digits, or . _ / -`,
      );
    }
    await using store = await context.openStore({ mustExist: true });
    const { id, status } = await findRun(store, run);
    if (status !== "completed") throw new UsageError(`cannot tag run ${id}: it is ${status}`);
    await store.setTag(name, id);
    context.out.write(`tag:${name} is run ${id}\n`);
    return EXIT.passed;
  },
};
