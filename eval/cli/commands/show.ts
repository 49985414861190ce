import { gatherPieces } from "../../../shared/http/answer.ts";
import { readNumbers } from "../../report/text/run_numbers.ts";
import { thresholdOf } from "../../figures/passing.ts";
import { describeRun } from "../../report/text/run_text.ts";
import { resultPieces } from "../../figures/run_result.ts";
import { restingProgress, viewRun, withResult } from "../../run/view.ts";
import { AgreementLabel } from "../../test/interaction_result.ts";
import type { StoredRun } from "../../store/run_record.ts";
import type { RunReader } from "../../store/store.ts";
import { createWholeReader } from "../../store/whole_reader.ts";
import { leaksText } from "../../report/text/leaks_text.ts";
import { readLeaksIfChecked } from "../../figures/run_leaks.ts";
import { parseArguments } from "../arguments.ts";
import { type Command, EXIT, UsageError } from "../command.ts";
import { findRun, isGroup } from "../find_run.ts";
import { terminalForm } from "../report/terminal_form.ts";

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
    await using reader = await context.openReader();
    if (await isGroup(reader, name)) {
      const { printComparison } = await import("./compare.ts");
      const shown = { reader, context, decideBy: values.score, isJson: values.json };
      return await printComparison({ group: name }, shown);
    }
    if (values.score) throw new UsageError("--score is for groups");
    const label = AgreementLabel.safeParse(values.agreement);
    if (values.agreement && !label.success) {
      throw new UsageError(`--agreement is one of ${AgreementLabel.options.join(", ")}`);
    }
    const run = await findRun(reader, name);
    if (values.json) {
      for await (const text of gatherPieces(jsonOf(reader, run))) context.out.write(text);
      return EXIT.passed;
    }
    const source = {
      run,
      reader: createWholeReader(reader, run),
      threshold: thresholdOf(run.request),
    };
    const numbers = await readNumbers({ ...source, label: label.data });
    context.out.write(describeRun(source, { numbers, form: terminalForm }));
    const leaks = await readLeaksIfChecked(reader, run);
    if (leaks) context.out.write(leaksText(leaks, terminalForm));
    if (run.detail !== null) context.out.write(`\nstopped early: ${run.detail}\n`);
    if (run.status !== "completed") {
      context.out.write(`\ncontinue with: assay-eval resume ${run.id}\n`);
    }
    return EXIT.passed;
  },
};

async function* jsonOf(reader: RunReader, run: StoredRun): AsyncGenerator<string> {
  const view = viewRun(run, restingProgress(run, run.tally ?? await reader.tally(run.id)));
  if (run.status === "completed") yield* withResult(view, resultPieces(reader, run));
  else yield JSON.stringify(view);
  yield "\n";
}
