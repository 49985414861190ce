import type { ListedRun, RunList } from "../../http/schemas/run_schemas.ts";
import { showScore } from "../../report/text/text_form.ts";
import { renderTable } from "../../report/text/terminal_form.ts";
import { RUN_STATUSES } from "../../store/run_record.ts";
import { connect, jsonText, runPath } from "../api.ts";
import { parseArguments, parseNumber } from "../arguments.ts";
import { type Command, EXIT, UsageError } from "../command.ts";

/** Runs that the service lists at once. */
const PAGE = 200;

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
    const range = { option: "--limit", min: 1, max: 1000, isWhole: true };
    const limit = parseNumber(values.limit ?? "20", range);
    const { name: test_name, model: model_id, group } = values;
    const status = values.status && parseStatus(values.status);
    await using api = await connect(context, { access: "read" });
    const runs: ListedRun[] = [];
    let cursor: string | null | undefined;
    while (runs.length < limit && cursor !== null) {
      const query = { test_name, model_id, group, status, cursor };
      const page = await api.json<RunList>("GET /runs", {
        query: { ...query, limit: Math.min(PAGE, limit - runs.length) },
      });
      runs.push(...page.runs);
      cursor = page.next_cursor;
    }
    if (values.json) {
      context.out.write(jsonText({ runs }));
      return EXIT.passed;
    }
    const header = ["run", "started", "status", "turns", "overall", "model", "test"];
    const hasGroups = runs.some(({ group_id }) => group_id);
    if (hasGroups) header.push("group");
    const rows = runs.map((run) => [...toRow(run), ...hasGroups ? [run.group_id ?? ""] : []]);
    context.out.write(rows.length === 0 ? "no runs found\n" : renderTable(header, rows));
    return EXIT.passed;
  },
};

function toRow({ progress: { done, total, mean }, status, headline, ...run }: ListedRun): string[] {
  const overall = showScore(headline ? headline.scores.overall?.mean : mean);
  return [
    run.run_id,
    run.created_at.slice(0, 16).replace("T", " "),
    status,
    done < total ? `${done}/${total}` : `${done}`,
    overall + (status === "completed" ? "" : " so far"),
    run.model_id,
    run.test_name,
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
    await using api = await connect(context, { access: "write" });
    const { run_id: id, status, tags = [] } = await api.run(run);
    if (status !== "completed") throw new UsageError(`cannot tag run ${id}: it is ${status}`);
    await api.call(`PATCH ${runPath(id)}`, { body: { tags: [...tags, name] } });
    context.out.write(`tag:${name} is run ${id}\n`);
    return EXIT.passed;
  },
};
