import type { ExportFormat, ExportOption } from "../../report/format.ts";
import { exportFormats } from "../../report/export_formats.ts";
import { isPaired, type TrainingForm, trainingForms } from "../../report/training/forms.ts";
import { HELD_OUT } from "../../test/datasets.ts";
import { counted } from "../../../shared/service/text.ts";
import { connect, type Query, runPath, textOf } from "../api.ts";
import { parseArguments, type ParsedValues, parseNumber } from "../arguments.ts";
import { type Command, EXIT, UsageError } from "../command.ts";
import type { CliContext } from "../context.ts";
import { planOutputs, writeOutputs } from "../outputs.ts";

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
    await using api = await connect(context, { access: "read" });
    const [name = "", second] = names;
    let path: string;
    let query: Query;
    if (second !== undefined || await api.group(name)) {
      if (values.rows !== undefined) {
        throw new UsageError("--rows cannot be used with several runs; export each instead");
      }
      if (threshold !== undefined) requireUsed(formats, "--threshold", ["threshold of each"]);
      path = "/compare/export";
      query = { threshold, ...second === undefined ? { group: name } : { runs: names.join(",") } };
    } else {
      if (values.rows !== undefined) requireUsed(formats, "--rows", ["rows"]);
      if (threshold !== undefined) requireUsed(formats, "--threshold", ["threshold"]);
      path = `${runPath(name)}/export`;
      query = { threshold, rows };
    }
    if (outputs.length > 0) await writeOutputs(outputs, { api, context, path, query });
    else {
      const pieces = api.pieces(`GET ${path}`, { query: { ...query, format: format.name } });
      for await (const text of pieces) context.out.write(text);
    }
    return EXIT.passed;
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
  await using api = await connect(context, { access: "read" });
  const response = await api.call("POST /runs/export", {
    body: { run_ids: names, format: form.name, judge: values.judge },
  });
  const lines = textOf(response.body!);
  if (path === undefined) { for await (const text of lines) context.out.write(text); }
  else await context.writeText(path, lines);
  const rows = Number(response.headers.get("x-training-rows"));
  const left = response.headers.get("x-training-left-out");
  context.err.write(`${counted(rows, "row")}${left && `; left out: ${left}`}\n`);
  return EXIT.passed;
}

/** Throws `UsageError` for an option that none of the formats uses: it would be ignored. */
function requireUsed(formats: ExportFormat[], name: string, options: ExportOption[]): void {
  const isUser = ({ uses }: ExportFormat) => options.some((option) => uses.includes(option));
  if (formats.some(isUser)) return;
  const users = exportFormats.filter(isUser).map(({ name }) => name).join(", ");
  throw new UsageError(`${name} is for ${users.replace(/, ([^,]*)$/, " and $1")}`);
}
