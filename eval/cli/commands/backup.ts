import { parseArguments } from "../arguments.ts";
import { type Command, EXIT } from "../command.ts";

export const backup: Command = {
  summary: "copy the database to a file, also while the service runs",
  help: `assay-eval backup FILE

Copies EVAL_DATA in its present state to FILE, which must not exist yet,
and checks the copy. The service may be running. See docs/backup.md.

Example:
  assay-eval backup eval-backup.db
`,

  async execute(args, context) {
    const { positionals: [target = ""] } = parseArguments(args, { options: {}, names: ["FILE"] });
    await context.requireWritable(target);
    await context.backUp(target);
    context.err.write(`wrote ${target}\n`);
    return EXIT.passed;
  },
};
