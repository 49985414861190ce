import { gatherPieces } from "../../../shared/http/answer.ts";
import {
  comparisonSource,
  type ExportFormat,
  type ExportOption,
  exportSource,
} from "../../report/format.ts";
import { createStoredComparer } from "../../figures/compare_stored.ts";
import { exportFormats } from "../../report/export_formats.ts";
import { exportTraining, leftOutText } from "../../report/training/export_training.ts";
import { isPaired, type TrainingForm, trainingForms } from "../../report/training/forms.ts";
import { requireJudge } from "../../figures/judge_preference.ts";
import { HELD_OUT } from "../../test/datasets.ts";
import type { StoredRun } from "../../store/run_record.ts";
import { counted } from "../../../shared/service/text.ts";
import type { CliContext } from "../context.ts";
import { readAgreementIfGraded } from "../../figures/rater_agreement.ts";
import { readLeaksIfChecked } from "../../figures/run_leaks.ts";
import { parseArguments, type ParsedValues, parseNumber } from "../arguments.ts";
import { type Command, EXIT, UsageError } from "../command.ts";
import { findRun, findRuns } from "../find_run.ts";
import { planOutputs, writeOutputs } from "../report/outputs.ts";

const TRAINING = trainingForms.map(({ name }) => name).join("|");

const options = {
  format: { type: "string" },
  output: { type: "string", multiple: true, short: "o" },
  threshold: { type: "string" },
  rows: { type: "string" },
  judge: { type: "boolean" },
} as const;

export const exportRun: Command = {
  summary: "write a run or a comparison in another format, such as CSV, JUnit XML or HTML",
  help: `assay-eval export RUN [options]
assay-eval export GROUP [options]
assay-eval export RUN RUN… [options]
assay-eval export RUN… --format ${TRAINING} [--judge] [-o FILE]

RUN is an id, "latest", or "tag:NAME". GROUP is the id of a group: its runs, or
several ones, are written as a comparison. Without --output it is written to
standard output.

  --format F         the format (default: json):
                     ${exportFormats.map(({ name }) => name).join(" ")}
  -o, --output FILE  write a file, in the format of its extension; may be repeated:
                     ${exportFormats.map(({ extension }) => `.${extension}`).join(" ")}
  --threshold X      which turns count as failures in JUnit XML, Markdown and HTML
                     (default: the run's own, else 0.7); of several in JUnit XML
  --rows ROWS        what a row of CSV and a line of JSONL of one run is: turns, or
                     scores with their averages (default: turns)

An option that none of the formats uses is an error.

Training data: replies with a correction (a grade's corrected reply) or that
passed are chosen, those that failed rejected. What another dataset tests is
left out, and so is all of a dataset tagged ${HELD_OUT}.

${
    trainingForms.map(({ name, about }) => `  ${name.padEnd(12)} ${about.replaceAll("`", "")}`)
      .join("\n")
  }
  --judge      for dpo: also ask the judge which replies of each two runs are
               better, twice for each turn

Example:
  assay-eval export latest --output result.csv --output junit.xml
`,

  async execute(args, context) {
    const { values, positionals: names } = parseArguments(args, {
      options,
      names: ["RUN", "RUN…"],
    });
    const form = trainingForms.find(({ name }) => name === values.format);
    if (form) return await writeTraining(names, { form, values, context });
    if (values.judge) throw new UsageError("--judge is for dpo and dpo-openai");
    const format = exportFormats.find(({ name }) => name === (values.format ?? "json"));
    if (!format) throw new UsageError(`unknown format "${values.format}"`);
    if (values.format !== undefined && values.output) {
      throw new UsageError("--format is for standard output; a file's extension sets its format");
    }
    const threshold = values.threshold === undefined
      ? undefined
      : parseNumber(values.threshold, { option: "--threshold", min: 0, max: 1 });
    const { rows = "turns" } = values;
    if (rows !== "turns" && rows !== "scores") {
      throw new UsageError(`--rows must be turns or scores, not "${rows}"`);
    }
    const outputs = await planOutputs(values.output ?? [], context);
    const formats = outputs.length > 0 ? outputs.map(({ format }) => format) : [format];
    const finish = async (write: (format: ExportFormat) => AsyncIterable<string>) => {
      if (outputs.length > 0) await writeOutputs(outputs, { write, context });
      else for await (const text of gatherPieces(write(format))) context.out.write(text);
      return EXIT.passed;
    };
    await using reader = await context.openReader();
    const selection = await findRuns(reader, names);
    if ("group" in selection || names.length > 1) {
      if (values.rows !== undefined) {
        throw new UsageError("--rows cannot be used with several runs; export each instead");
      }
      if (threshold !== undefined) requireUsed(formats, "--threshold", ["threshold of each"]);
      const comparison = await createStoredComparer(reader).compare(selection);
      if (comparison.status === "running") {
        throw new UsageError("cannot export the comparison: a run of it is not finished");
      }
      const source = comparisonSource(reader, { comparison, threshold });
      return await finish((format) => format.writeComparison(source));
    }
    if (values.rows !== undefined) requireUsed(formats, "--rows", ["rows"]);
    if (threshold !== undefined) requireUsed(formats, "--threshold", ["threshold"]);
    const source = exportSource(reader, { run: await findRun(reader, names[0]!), threshold });
    source.agreement = await readAgreementIfGraded(reader, source.run);
    source.leaks = await readLeaksIfChecked(reader, source.run);
    source.rows = rows;
    source.scores = await context.describeScores();
    return await finish((format) => format.write(source));
  },
};

async function writeTraining(
  names: string[],
  { form, values, context }: {
    form: TrainingForm;
    values: ParsedValues<typeof options>;
    context: CliContext;
  },
): Promise<number> {
  for (const option of ["threshold", "rows"] as const) {
    if (values[option] !== undefined) {
      throw new UsageError(`--${option} cannot be used with training data`);
    }
  }
  if (values.judge && !isPaired(form.name)) {
    throw new UsageError("--judge is for dpo and dpo-openai");
  }
  const [path, second] = values.output ?? [];
  if (second !== undefined) throw new UsageError("training data is written into one file");
  if (path !== undefined) await context.requireWritable(path);
  const judge = values.judge ? requireJudge(await context.judge()) : undefined;
  await using reader = await context.openReader();
  const runs: StoredRun[] = [];
  for (const name of new Set(names)) {
    const group = await reader.groupRuns(name);
    const ids = group.length > 0 ? group.map(({ id }) => id) : [name];
    for (const id of ids) runs.push(await findRun(reader, id));
  }
  const { lines, leftOut } = await exportTraining(reader, {
    runs,
    form,
    judge,
    signal: new AbortController().signal, // Ctrl-C ends the process
  });
  if (path === undefined) { for (const line of lines) context.out.write(line); }
  else await context.writeText(path, ReadableStream.from(lines));
  const left = leftOutText(leftOut);
  context.err.write(`${counted(lines.length, "row")}${left && `; left out: ${left}`}\n`);
  return EXIT.passed;
}

/** Throws `UsageError` for an option that none of the formats uses: it would be ignored. */
function requireUsed(formats: ExportFormat[], name: string, options: ExportOption[]): void {
  const isUser = ({ uses }: ExportFormat) => options.some((option) => uses.includes(option));
  if (formats.some(isUser)) return;
  const users = exportFormats.filter(isUser).map(({ name }) => name).join(", ");
  throw new UsageError(`${name} is for ${users.replace(/, ([^,]*)$/, " and $1")}`);
}
