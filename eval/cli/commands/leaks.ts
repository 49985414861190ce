import { counted, shorten } from "../../../shared/service/text.ts";
import { printable } from "../../report/text/text_form.ts";
import type { LeakReport } from "../../test/leaks.ts";
import { parseArguments } from "../arguments.ts";
import { type Command, EXIT, UsageError } from "../command.ts";
import { connect, jsonText } from "../api.ts";
import { datasetRoute } from "./datasets.ts";

const options = {
  dataset: { type: "string" },
  "fail-on-leaks": { type: "boolean" },
  json: { type: "boolean" },
} as const;

export const leaks: Command = {
  summary: "say which scenarios of a dataset a training file has",
  help: `assay-eval leaks FILE --dataset NAME[@VERSION] [options]

Compares each scenario with the texts of a training file, by runs of words and
by meaning, on this machine alone. What many rows share, such as a prompt, does
not count. FILE is JSONL or a JSON array, of messages, prompts, completions or
other fields; "-" reads standard input. The dataset remembers the check, and
reports of its runs have the score without the scenarios that were found.

  --dataset NAME   the dataset; its latest version unless VERSION is given
  --fail-on-leaks  exit with 100 if a scenario was found
  --json           print every scenario with the text that is nearest, as JSON

Example:
  assay-eval leaks train.jsonl --dataset support --fail-on-leaks
`,

  async execute(args, context) {
    const { values, positionals: [path = ""] } = parseArguments(args, { options, names: ["FILE"] });
    if (values.dataset === undefined) {
      throw new UsageError('--dataset is missing; "assay-eval datasets" lists them');
    }
    const dataset = datasetRoute(values.dataset);
    await using api = await connect(context, { access: "write" });
    const report = await api.json<LeakReport>(`POST ${dataset.path}/leaks`, {
      query: { ...dataset.query, file: path === "-" ? "" : path.split(/[/\\]/).at(-1)! },
      body: context.readPieces(path),
      headers: { "content-type": "application/jsonl" },
    });
    context.out.write(values.json ? jsonText(report) : describe(report));
    const isLeaked = report.word_for_word + report.near > 0;
    return isLeaked && values["fail-on-leaks"] ? EXIT.notPassed : EXIT.passed;
  },
};

function describe(report: LeakReport): string {
  const { name, version, scenarios, rows, word_for_word, near } = report;
  const found = scenarios.filter(({ verdict }) => verdict !== "none")
    .map(({ scenario_id, verdict, test, match }) =>
      `\n${scenario_id}: ${verdict.replaceAll("_", " ")}, row ${match!.row}\n` +
      `  test:     ${oneLine(test)}\n  training: ${oneLine(match!.text)}\n`
    );
  return `${name}@${version} against ${counted(rows, "row")}: of ` +
    `${counted(scenarios.length, "scenario")} ${word_for_word} word for word, ${near} near\n` +
    found.join("");
}

const SHOWN = 300;

function oneLine(text: string): string {
  return printable(shorten(text.replaceAll(/\s+/g, " ").trim(), SHOWN, "…"));
}
