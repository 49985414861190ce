import type { Comparison } from "../../figures/compare_stored.ts";
import type { Preference } from "../../figures/judge_preference.ts";
import { isRegression } from "../../figures/verdict.ts";
import { preferenceLine } from "../../report/compare_report.ts";
import { renderText } from "../../report/text/render.ts";
import { terminalForm } from "../../report/text/terminal_form.ts";
import { connect, jsonText } from "../api.ts";
import { parseArguments } from "../arguments.ts";
import { type Command, EXIT, UsageError } from "../command.ts";
import { parseMinDifference } from "../criteria.ts";
import type { Service } from "../follow.ts";

const options = {
  score: { type: "string" },
  "min-difference": { type: "string" },
  json: { type: "boolean" },
  judge: { type: "boolean" },
} as const;

export const compare: Command = {
  summary: "say which of several runs is better",
  help: `assay-eval compare BASELINE CANDIDATE [RUN…] [options]
assay-eval compare GROUP [options]

Pairs the runs by scenario and turn and tests one score; of two runs the others
show what moved with it. A run is an id, "latest", or "tag:NAME"; GROUP is what
"assay-eval run" with several models makes, and "assay-eval runs" lists.

  --score NAME   the score that decides (default: overall)
  --min-difference D  the smallest difference that matters, 0 to 1: then "equal
                 enough" is a verdict, too: not worse by as much
  --judge        also have the judge say which replies are better: it is asked
                 twice for each turn, in both orders, about the first attempts;
                 of two runs
  --json         print the whole comparison as JSON

Exit code: 0, 100 if of two runs that score regressed (also if calls without an
answer, had they been answered, could change that), 1 for an error.

Example:
  assay-eval compare 0198c0de-1111-7000-8000-000000000000 latest --score judge
`,

  async execute(args, context) {
    const { values, positionals: names } = parseArguments(args, {
      options,
      names: ["BASELINE", "RUN…"],
    });
    const [first = "", second] = names;
    await using api = await connect(context, { access: "read" });
    const isGroup = second === undefined && await api.group(first) !== undefined;
    if (!isGroup && second === undefined) throw new UsageError("CANDIDATE is missing");
    if (values.judge && names.length !== 2) throw new UsageError("--judge compares two runs");
    return await showComparison({
      ...isGroup ? { group: first } : { runs: names.join(",") },
      decide_by: values.score,
      min_difference: parseMinDifference(values["min-difference"]),
    }, { api, context, isJson: values.json, asksJudge: values.judge });
  },
};

interface Compared {
  runs?: string;
  group?: string;
  decide_by: string | undefined;
  min_difference?: number | undefined;
}

/** Compares runs, prints the comparison, and returns the exit code. */
export async function showComparison(
  compared: Compared,
  { api, context: { out }, isJson, asksJudge }: Service & {
    isJson?: boolean | undefined;
    asksJudge?: boolean | undefined;
  },
): Promise<number> {
  const isPair = compared.runs?.split(",").length === 2;
  const query = { ...compared };
  const detail = isPair ? "full" : undefined;
  const comparison = await api.json<Comparison>("GET /compare", { query: { ...query, detail } });
  const { runs: [baseline, candidate], pairs } = comparison;
  const { preference } = asksJudge
    ? await api.json<{ preference: Preference }>("POST /compare", {
      body: { baseline: baseline!.run_id, candidate: candidate!.run_id },
    })
    : {};
  if (isJson) out.write(jsonText({ ...comparison, preference }));
  else {
    const text = await api.call("GET /compare/export", { query: { ...query, format: "text" } });
    out.write((await text.text()).trimStart());
    if (preference) {
      out.write(renderText([{ lines: [preferenceLine(preference)] }], terminalForm));
    }
  }
  return isPair && isRegression(pairs![0]!) ? EXIT.notPassed : EXIT.passed;
}
