import { counted } from "../../../shared/text.ts";
import { compareStored } from "../../compare/compare_stored.ts";
import { type ExportSource, groupSources } from "../../export/format.ts";
import { describeGroup } from "../../export/text/group_text.ts";
import { readNumbers, type RunNumbers } from "../../export/text/run_numbers.ts";
import { readSides } from "../../export/text/compared_sides.ts";
import { describeComparison } from "../../export/text/comparison_text.ts";
import { describeRun, isDecided } from "../../export/text/run_text.ts";
import { findNewFailures } from "../subset.ts";
import { isRegression } from "../../compare/verdict.ts";
import { HEADLINE, holdAgainst, ifAnswered, type Standing } from "../../results/passing.ts";
import { roundedBelow } from "../../schemas/rounding.ts";
import type { Statistic } from "../../schemas/statistics.ts";
import type { StoredRun } from "../../store/runs/run_record.ts";
import type { RunStore } from "../../store/store.ts";
import { createWholeReader } from "../../store/turns/whole_reader.ts";
import { EXIT } from "../command.ts";
import { storedGroups } from "../find_run.ts";
import { type PassCriteria, thresholdFor, withBaseline } from "../pass_criteria.ts";
import { writeOutputs } from "./outputs.ts";
import { terminalForm } from "./terminal_form.ts";
import type { CliContext } from "../context.ts";

/** Reports on an ended run, writes its files, stores the outcome, and returns its exit code. */
export async function reportRun(
  run: StoredRun,
  criteria: PassCriteria,
  { store, context }: { store: RunStore; context: CliContext },
): Promise<number> {
  const { source, numbers, code, words } = await judgeRun(run, criteria, store);
  source.scores = await context.describeScores();
  context.out.write(describeRun(source, { numbers, form: terminalForm }));
  if (source.comparison) {
    const { baseline, result: { moved } } = source.comparison;
    const sides = await readSides(withBaseline(store, criteria), {
      ids: { baseline, candidate: run.id },
      moved,
    });
    source.comparison.sides = () => Promise.resolve(sides);
    context.out.write(describeComparison({ ...source.comparison, sides }, terminalForm));
  }
  context.out.write(`\n${words}\n`);
  await writeOutputs(criteria.outputs, { context, write: (format) => format.write(source) });
  return code;
}

/**
 * Reports on a group whose runs are complete: the table, the verdicts, and whether each model
 * passes by itself. Writes its files and returns its exit code: that of the worst model.
 */
export async function reportGroup(
  id: string,
  criteria: PassCriteria,
  { store, context }: { store: RunStore; context: CliContext },
): Promise<number> {
  const report = await storedGroups(store).report(id, { decideBy: criteria.decideBy });
  context.out.write(describeGroup(report, terminalForm));
  context.out.write("\n");
  const codes: number[] = [];
  for (const { run_id, name } of report.models) {
    const run = (await store.getRun(run_id))!;
    const { code, words } = await judgeRun(run, criteria, store);
    context.out.write(`${terminalForm.name(name)}: ${words}\n`);
    codes.push(code);
  }
  const runs = () => groupSources(store, { ...report, threshold: criteria.threshold });
  await writeOutputs(criteria.outputs, {
    context,
    write: (format) => format.writeGroup({ report, runs }),
  });
  return [EXIT.error, EXIT.notPassed].find((code) => codes.includes(code)) ?? EXIT.passed;
}

/** Holds a run that has ended against its criteria, and stores the outcome. */
async function judgeRun(
  run: StoredRun,
  criteria: PassCriteria,
  store: RunStore,
): Promise<{ source: ExportSource; numbers: RunNumbers; code: number; words: string }> {
  const threshold = thresholdFor(criteria, run);
  const source: ExportSource = {
    run,
    reader: createWholeReader(store, run),
    threshold,
  };
  const numbers = await readNumbers(source);
  if (criteria.baseline !== undefined) {
    const { baseline, decideBy, isBaselineOptional } = criteria;
    const reader = withBaseline(store, criteria);
    const result = await compareStored(reader, { baseline, candidate: run.id }, { decideBy });
    source.comparison = { baseline, result, isRequired: !isBaselineOptional };
    if (criteria.failsOnNewFailures) {
      const before = (await reader.getRun(baseline))!;
      const runs = { baseline: before, candidate: run, threshold };
      source.comparison.newFailures = await findNewFailures(reader, runs);
    }
  }
  const { code, words } = decide({ numbers, threshold, criteria, source });
  await store.setGate(run.id, code === EXIT.passed ? "passed" : "failed");
  return { source, numbers, code, words };
}

const UNSCORED =
  "passed, but no turn was scored: no reference, label, check or expected tool call applies";

function decide({ numbers, threshold, criteria, source }: {
  numbers: RunNumbers;
  threshold: number;
  criteria: PassCriteria;
  source: ExportSource;
}): { code: number; words: string } {
  const headline = numbers.statistics[HEADLINE];
  const standing = holdAgainst(ifAnswered(headline), threshold);
  if (numbers.turns > 0 && numbers.failed === numbers.turns) {
    return { code: EXIT.error, words: "failed: the endpoint did not answer a single turn" };
  }
  if (standing === "unscored" && criteria.threshold !== undefined) {
    return { code: EXIT.error, words: "failed: a threshold was given, but no turn has a score" };
  }
  const { comparison } = source;
  if (comparison?.isRequired && !isDecided(comparison.result)) {
    return { code: EXIT.error, words: `failed: ${comparison.result.reason}` };
  }
  const { byChecks, byTools, missing } = numbers.barred;
  const faults = [
    ...byChecks > 0 ? [`required checks failed in ${counted(byChecks, "turn")}`] : [],
    ...byTools > 0 ? [`wrong tool calls in ${counted(byTools, "turn")}`] : [],
    ...missing > 0
      ? [`required checks or tool calls are missing in ${counted(missing, "turn")}`]
      : [],
    ...describeStanding(standing, { headline, threshold }),
    ...comparison && isRegression(comparison.result)
      ? [`regressed in ${comparison.result.decided_by}`]
      : [],
    ...comparison?.newFailures?.length
      ? [counted(comparison.newFailures.length, "new failure")]
      : [],
  ];
  if (faults.length > 0) {
    return { code: EXIT.notPassed, words: `not passed: ${faults.join("; ")}` };
  }
  return { code: EXIT.passed, words: standing === "unscored" ? UNSCORED : "passed" };
}

function describeStanding(
  standing: Standing,
  { headline, threshold }: { headline: Statistic | undefined; threshold: number },
): string[] {
  const show = (value: number) => roundedBelow(value, { limit: threshold, digits: 3 });
  if (standing === "missing") {
    const { bounds, error_bounds, missing, failed } = headline!;
    const [low, high] = (error_bounds ?? bounds)!;
    const causes = [
      ...missing > 0
        ? [`${counted(missing, "turn")} ${missing === 1 ? "has" : "have"} no ${HEADLINE} score`]
        : [],
      ...failed > 0 ? [`${counted(failed, "call")} failed`] : [],
    ];
    return [
      `${HEADLINE} lies between ${show(low)} and ${show(high)}, because ${causes.join(" and ")}, ` +
      `and the threshold is ${threshold}`,
    ];
  }
  if (standing !== "below") return [];
  const { bounds, mean } = headline!;
  return [
    bounds
      ? `${HEADLINE} is ${show(bounds[1])} at most, below ${threshold}`
      : `${HEADLINE} ${show(mean!)} is below ${threshold}`,
  ];
}
