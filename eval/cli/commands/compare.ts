import {
  comparisonInDetail,
  createStoredComparer,
  type Selection,
} from "../../figures/compare_stored.ts";
import type { CompareOptions } from "../../figures/compare.ts";
import { isRegression } from "../../figures/verdict.ts";
import { compareByJudge, requireJudge } from "../../figures/judge_preference.ts";
import { readFallen } from "../../report/text/compared_replies.ts";
import { describeComparison } from "../../report/text/comparison_text.ts";
import { parseArguments } from "../arguments.ts";
import { type Command, EXIT, UsageError } from "../command.ts";
import type { CliContext } from "../context.ts";
import { parseMinDifference } from "../pass_criteria.ts";
import { findRuns } from "../find_run.ts";
import type { RunReader } from "../../store/store.ts";
import { jsonText, terminalForm } from "../report/terminal_form.ts";

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
    const { values, positionals } = parseArguments(args, {
      options,
      names: ["BASELINE", "RUN…"],
    });
    await using reader = await context.openReader();
    const selection = await findRuns(reader, positionals);
    if ("runs" in selection && positionals.length === 1) {
      throw new UsageError("CANDIDATE is missing");
    }
    return await printComparison(selection, {
      reader,
      context,
      decideBy: values.score,
      minDifference: parseMinDifference(values["min-difference"]),
      isJson: values.json,
      asksJudge: values.judge,
    });
  },
};

interface PrintOptions extends CompareOptions {
  reader: RunReader;
  context: CliContext;
  isJson?: boolean | undefined;
  asksJudge?: boolean | undefined;
}

/** Compares runs, prints the comparison, and returns the exit code. */
export async function printComparison(
  selection: Selection,
  { reader, context, isJson, asksJudge, ...options }: PrintOptions,
): Promise<number> {
  const comparison = await createStoredComparer(reader).compare(selection, options);
  const { runs: [baseline, candidate, third], pairs } = comparison;
  const isPair = "runs" in selection && !third;
  if (asksJudge && !isPair) throw new UsageError("--judge compares two runs");
  const preference = asksJudge
    ? await compareByJudge(reader, { baseline: baseline!.run_id, candidate: candidate!.run_id }, {
      judge: requireJudge(await context.judge()),
      signal: new AbortController().signal, // Ctrl-C ends the process
    })
    : undefined;
  if (isJson) {
    const shown = comparisonInDetail(comparison, isPair ? "full" : undefined);
    context.out.write(jsonText({ ...shown, ...preference && { preference } }));
  } else {
    const fallen = isPair ? await readFallen(reader, comparison) : [];
    const text = describeComparison(comparison, terminalForm, { fallen, preference });
    context.out.write(isPair ? text.trimStart() : text);
  }
  return isPair && isRegression(pairs![0]!) ? EXIT.notPassed : EXIT.passed;
}
