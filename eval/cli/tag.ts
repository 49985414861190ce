import { parseArguments } from "./arguments.ts";
import { type Command, EXIT, UsageError } from "./command.ts";
import { findRun } from "./find_run.ts";

/** What branches and releases are called. */
const TAG = /^[\w][\w./-]{0,99}$/;

/** Names a run, so that later ones can be compared with it. */
export const tag: Command = {
  summary: "give a run a name, for --baseline tag:NAME",
  help: `assay-eval tag RUN NAME

NAME then stands for this run, and no longer for the one that it stood for
before. RUN is an id, "latest", or "tag:NAME". A run with a tag is not deleted
for its age (EVAL_KEEP_DAYS).

Example:
  assay-eval tag latest main
  assay-eval run support.jsonl --baseline tag:main
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
    const store = await context.openStore();
    try {
      const { id, status } = await findRun(store, run);
      if (status !== "completed") throw new UsageError(`cannot tag run ${id}: it is ${status}`);
      await store.setTag(name, id);
      context.out.write(`tag:${name} is run ${id}\n`);
      return EXIT.passed;
    } finally {
      await store.close();
    }
  },
};
