import type { ListedGroup } from "../../groups/group_report.ts";
import { parseArguments, parseLimit } from "../arguments.ts";
import { type Command, EXIT } from "../command.ts";
import { storedGroups } from "../find_run.ts";
import { jsonText, renderTable } from "../report/terminal_form.ts";

const options = {
  limit: { type: "string" },
  json: { type: "boolean" },
} as const;

export const groups: Command = {
  summary: "list the groups of runs with several models, newest first",
  help: `assay-eval groups [options]

A group is what "assay-eval run" with several models makes, a run per model.
"assay-eval show GROUP" compares its models, "assay-eval export GROUP" writes
the comparison into a file.

  --limit N      how many (default: 20)
  --json         print them as {"groups": […]}, each as GET /groups shows it

Example:
  assay-eval groups --limit 5
`,

  async execute(args, context) {
    const { values } = parseArguments(args, { options, names: [] });
    const limit = parseLimit(values.limit);
    await using reader = await context.openReader();
    const groups = await storedGroups(reader).list({ limit });
    const header = ["group", "started", "status", "turns", "models", "test"];
    if (values.json) context.out.write(jsonText({ groups }));
    else if (groups.length === 0) context.out.write("no groups found\n");
    else context.out.write(renderTable(header, groups.map(toRow)));
    return EXIT.passed;
  },
};

function toRow({ group_id, created_at, status, progress, models, test_name }: ListedGroup) {
  const { done, total } = progress;
  return [
    group_id,
    created_at.slice(0, 16).replace("T", " "),
    status,
    done < total ? `${done}/${total}` : `${done}`,
    models.map(({ name }) => name).join(", "),
    test_name,
  ];
}
