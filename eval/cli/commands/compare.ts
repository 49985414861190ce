import { compareStored } from "../../compare/compare_stored.ts";
import { isRegression } from "../../compare/verdict.ts";
import { compareByJudge, requireJudge } from "../../compare/judge_preference.ts";
import { readSides } from "../../export/text/compared_sides.ts";
import { describeComparison } from "../../export/text/comparison_text.ts";
import { parseArguments } from "../arguments.ts";
import { type Command, EXIT } from "../command.ts";
import { parseMinDifference } from "../pass_criteria.ts";
import { findRun } from "../find_run.ts";
import { jsonText, terminalForm } from "../report/terminal_form.ts";

const options = {
  score: { type: "string" },
  "min-difference": { type: "string" },
  json: { type: "boolean" },
  judge: { type: "boolean" },
} as const;

export const compare: Command = {
  summary: "say whether one run is better than another",
  help: `assay-eval compare BASELINE CANDIDATE [options]

Pairs the runs by scenario and turn and tests one score; the others show what
moved with it. BASELINE and CANDIDATE are ids, "latest", or "tag:NAME".

  --score NAME   the score that decides (default: overall)
  --min-difference D  the smallest difference that matters, 0 to 1: then "equal
                 enough" is a verdict, too: not worse by as much
  --judge        also have the judge say which replies are better: it is asked
                 twice for each turn, in both orders, about the first attempts
  --json         print the whole comparison as JSON

Exit code: 0, 100 if that score regressed (also if calls without an answer,
had they been answered, could change that), 1 for an error.

Example:
  assay-eval compare 0198c0de-1111-7000-8000-000000000000 latest --score judge
`,

  async execute(args, context) {
    const { values, positionals: [first = "", second = ""] } = parseArguments(args, {
      options,
      names: ["BASELINE", "CANDIDATE"],
    });
    await using reader = await context.openReader();
    const baseline = await findRun(reader, first);
    const candidate = await findRun(reader, second);
    const ids = { baseline: baseline.id, candidate: candidate.id };
    const comparison = await compareStored(reader, ids, {
      decideBy: values.score,
      minDifference: parseMinDifference(values["min-difference"]),
    });
    const preference = values.judge
      ? await compareByJudge(reader, ids, {
        judge: requireJudge(await context.judge()),
        signal: new AbortController().signal, // Ctrl-C ends the process
      })
      : undefined;
    if (values.json) {
      context.out.write(jsonText({ ...comparison, ...preference && { preference } }));
    } else {
      const sides = await readSides(reader, { ids, moved: comparison.moved });
      const described = { baseline: baseline.id, result: comparison, sides, preference };
      context.out.write(describeComparison(described, terminalForm).trimStart());
    }
    return isRegression(comparison) ? EXIT.notPassed : EXIT.passed;
  },
};
