import { AgreementLabel } from "../../test/interaction_result.ts";
import { connect, runPath } from "../api.ts";
import { parseArguments } from "../arguments.ts";
import { type Command, EXIT, UsageError } from "../command.ts";

const options = {
  agreement: { type: "string" },
  json: { type: "boolean" },
  score: { type: "string" },
} as const;

export const show: Command = {
  summary: "show one run: its averages, where they spread, and its lowest replies",
  help: `assay-eval show RUN [options]
assay-eval show GROUP [options]

RUN is an id, "latest", or "tag:NAME". GROUP is the id of a group: its models
are compared, as "assay-eval compare" does.

  --agreement LABEL
                 list the lowest replies of this label: same, partly, adds,
                 unrelated or contradicts
  --json         print the run with its result as GET /runs/{id} answers it, or
                 the group as GET /compare?group={id} does
  --score NAME   of a group: the score that decides (default: overall)

Example:
  assay-eval show latest
`,

  async execute(args, context) {
    const { values, positionals: [name = ""] } = parseArguments(args, { options, names: ["RUN"] });
    const { agreement, score } = values;
    if (agreement && !AgreementLabel.safeParse(agreement).success) {
      throw new UsageError(`--agreement is one of ${AgreementLabel.options.join(", ")}`);
    }
    await using api = await connect(context, { access: "read" });
    if (await api.group(name)) {
      const { showComparison } = await import("./compare.ts");
      return await showComparison({ group: name, decide_by: score }, {
        ...{ api, context, isJson: values.json },
      });
    }
    if (score) throw new UsageError("--score is for groups");
    const print = async (route: string, query = {}) => {
      for await (const text of api.pieces(route, { query })) context.out.write(text);
    };
    if (values.json) {
      await print(`GET ${runPath(name)}`);
      context.out.write("\n");
      return EXIT.passed;
    }
    const { run_id, status, detail } = await api.run(name);
    const query = { format: "text", agreement };
    await print(`GET ${runPath(run_id)}/export`, query);
    if (detail !== null) context.out.write(`\nstopped early: ${detail}\n`);
    if (status !== "completed") {
      context.out.write(`\ncontinue with: assay-eval resume ${run_id}\n`);
    }
    return EXIT.passed;
  },
};
