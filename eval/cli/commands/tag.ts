import { parseArguments } from "../arguments.ts";
import { type Command, EXIT, UsageError } from "../command.ts";
import { findRun } from "../find_run.ts";
import { TAG } from "../../store/runs/run_tags.ts";

/** Names a run, so that later ones can be compared with it. */
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
