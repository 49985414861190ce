import { planPower, type RunPower } from "../../figures/power.ts";
import { HEADLINE } from "../../figures/passing.ts";
import { turnsSoFar } from "../../store/whole_reader.ts";
import { parseArguments, parseNumber } from "../arguments.ts";
import { type Command, EXIT, UsageError } from "../command.ts";
import { findRun } from "../find_run.ts";
import { jsonText, renderTable } from "../report/terminal_form.ts";

const options = {
  difference: { type: "string" },
  score: { type: "string" },
  json: { type: "boolean" },
} as const;

export const power: Command = {
  summary: "say how many scenarios would show a difference",
  help: `assay-eval power RUN --difference D [options]

Says how many scenarios of the kind of RUN a comparison needs to show a
difference of D with 80 % power. RUN is an id, "latest", or "tag:NAME". One run
does not tell how another model differs from it, so there are two numbers: if
the difference is the same in every scenario, and if scenarios are unrelated.

  --difference D  a difference of two means, such as 0.02
  --score NAME    the score (default: ${HEADLINE})
  --json          print the whole answer as JSON

Example:
  assay-eval power latest --difference 0.02
`,

  async execute(args, context) {
    const { values, positionals: [name = ""] } = parseArguments(args, { options, names: ["RUN"] });
    if (values.difference === undefined) throw new UsageError("--difference is missing");
    const difference = parseNumber(values.difference, { option: "--difference", min: 0, max: 1 });
    if (difference === 0) throw new UsageError("--difference must be above 0");
    await using reader = await context.openReader();
    const run = await findRun(reader, name);
    const plan = await planPower(run.id, turnsSoFar(reader, run), {
      difference,
      score: values.score ?? HEADLINE,
    });
    context.out.write(values.json ? jsonText(plan) : describe(plan));
    return EXIT.passed;
  },
};

function describe(plan: RunPower): string {
  const { score, difference, power, scenarios, scenarios_needed, detectable_difference } = plan;
  const show = (value: number | null, digits = 0) => value === null ? "–" : value.toFixed(digits);
  const row = (what: string, end: "at_least" | "at_most") => [
    what,
    show(scenarios_needed[end]),
    show(detectable_difference[end], 3),
  ];
  return `Scenarios for a difference of ${difference} in ${score} with ${100 * power} % power\n\n` +
    renderTable(["if the models differ", "scenarios", `seen with ${scenarios}`], [
      row("by the same in every scenario", "at_least"),
      row("differently in each scenario", "at_most"),
    ]) +
    plan.notes.map((note) => `\n${note}\n`).join("");
}
