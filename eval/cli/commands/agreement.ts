import { agreementText } from "../../export/text/agreement_text.ts";
import { readAgreement } from "../../grades/run_agreement.ts";
import { parseArguments } from "../arguments.ts";
import { type Command, EXIT } from "../command.ts";
import { findRun } from "../find_run.ts";
import { terminalForm } from "../report/terminal_form.ts";

const options = {
  score: { type: "string" },
  json: { type: "boolean" },
} as const;

/** Says how far people agree with each other and with the judge. */
export const agreement: Command = {
  summary: "say how far people agree with each other and with the judge",
  help: `assay-eval agreement RUN [options]

Compares the grades of a run with each other and with the judge's score:
Krippendorff's alpha, Spearman's rank correlation, the mean difference, the
bias by band, and the threshold that agrees best with people. RUN is an id,
"latest", or "tag:NAME".

  --score NAME   the score (default: judge, or overall without a judge)
  --json         print the whole answer as JSON

Example:
  assay-eval agreement latest
`,

  async execute(args, context) {
    const { values, positionals: [name = ""] } = parseArguments(args, { options, names: ["RUN"] });
    await using reader = await context.openReader();
    const run = await findRun(reader, name);
    const found = await readAgreement(reader, run, { score: values.score });
    context.out.write(
      values.json
        ? `${JSON.stringify(found, null, 2)}\n`
        : agreementText(found, terminalForm).trimStart(),
    );
    return EXIT.passed;
  },
};
