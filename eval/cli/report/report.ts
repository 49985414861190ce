import { counted } from "../../../shared/service/text.ts";
import { createStoredComparer } from "../../figures/compare_stored.ts";
import { comparisonSource, type ExportSource } from "../../report/format.ts";
import { readNumbers, type RunNumbers } from "../../report/text/run_numbers.ts";
import { readFallen } from "../../report/text/compared_replies.ts";
import { describeComparison, describePair } from "../../report/text/comparison_text.ts";
import { describeRun } from "../../report/text/run_text.ts";
import { findNewFailures } from "../subset.ts";
import { isRegression } from "../../figures/verdict.ts";
import { HEADLINE, reaches } from "../../figures/passing.ts";
import { rounded, roundedBelow } from "../../test/rounding.ts";
import type { StoredRun } from "../../store/run_record.ts";
import type { RunStore } from "../../store/store.ts";
import { createWholeReader } from "../../store/whole_reader.ts";
import { EXIT } from "../command.ts";
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
    const { result, newFailures } = source.comparison;
    const fallen = await readFallen(withBaseline(store, criteria), result);
    source.comparison.fallen = () => Promise.resolve(fallen);
    context.out.write(describePair(result, terminalForm, { newFailures, fallen }));
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
  const { decideBy, minDifference, threshold } = criteria;
  const comparison = await createStoredComparer(store)
    .compare({ group: id }, { decideBy, minDifference });
  context.out.write(describeComparison(comparison, terminalForm));
  context.out.write("\n");
  const codes: number[] = [];
  for (const { run_id, name } of comparison.runs) {
    const run = (await store.getRun(run_id))!;
    const { code, words } = await judgeRun(run, criteria, store);
    context.out.write(`${terminalForm.name(name)}: ${words}\n`);
    codes.push(code);
  }
  const source = comparisonSource(store, { comparison, threshold });
  await writeOutputs(criteria.outputs, {
    context,
    write: (format) => format.writeComparison(source),
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
    const { baseline, decideBy, minDifference, isBaselineOptional } = criteria;
    const reader = withBaseline(store, criteria);
    const result = await createStoredComparer(reader)
      .compare({ runs: [baseline, run.id] }, { decideBy, minDifference });
    source.comparison = { result, isRequired: !isBaselineOptional };
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

/** Whether a run meets its gate, and why not. The words never say so of turns that do not pass. */
function decide({ numbers, threshold, criteria, source }: {
  numbers: RunNumbers;
  threshold: number;
  criteria: PassCriteria;
  source: ExportSource;
}): { code: number; words: string } {
  const { pass_rate, outcomes } = numbers;
  if (numbers.turns > 0 && numbers.failed === numbers.turns) {
    return { code: EXIT.error, words: "gate not met: the endpoint did not answer a single turn" };
  }
  if (!pass_rate && (criteria.threshold ?? criteria.minPassRate) !== undefined) {
    return { code: EXIT.error, words: "gate not met: no turn has a score" };
  }
  const { comparison } = source;
  const pair = comparison?.result.pairs?.[0];
  const decidedBy = comparison?.result.decided_by ?? HEADLINE;
  if (comparison?.isRequired && pair && !pair.scores[decidedBy]) {
    return { code: EXIT.error, words: `gate not met: ${pair.reason}` };
  }
  const faults = [
    ...pass_rate ? gateFaults(numbers, { threshold, criteria }) : [],
    ...pair && isRegression(pair) ? [`regressed in ${decidedBy}`] : [],
    ...comparison?.newFailures?.length
      ? [counted(comparison.newFailures.length, "new failure")]
      : [],
  ];
  if (faults.length > 0) {
    return { code: EXIT.notPassed, words: `gate not met: ${faults.join("; ")}` };
  }
  if (!pass_rate) return { code: EXIT.passed, words: `gate met, but ${UNSCORED}` };
  const isWhole = outcomes.below + outcomes.failed + outcomes.missing === 0;
  const words = isWhole
    ? "every scenario passes"
    : [...gateReached(numbers, criteria), unpassedText(numbers)].join("; ");
  return { code: EXIT.passed, words: `gate met: ${words}` };
}

/** What a run reaches of a gate that some of its turns may miss. */
function gateReached(
  { statistics, pass_rate }: RunNumbers,
  { threshold, minPassRate }: PassCriteria,
): string[] {
  const least = statistics[HEADLINE]?.mean ?? 0;
  return [
    ...threshold === undefined ? [] : [`${HEADLINE} ${rounded(least, 3)} reaches ${threshold}`],
    ...minPassRate === undefined
      ? []
      : [`the pass rate ${rounded(pass_rate!.mean, 3)} reaches ${minPassRate}`],
  ];
}

/** `3 of 24 turns do not pass (1 failed call)`. */
function unpassedText({ turns, outcomes: { below, failed, missing } }: RunNumbers): string {
  const sum = below + failed + missing;
  const unknown = [
    ...failed > 0 ? [counted(failed, "failed call")] : [],
    ...missing > 0 ? [counted(missing, "missing score")] : [],
  ];
  return `${sum} of ${counted(turns, "turn")} ${sum === 1 ? "does" : "do"} not pass` +
    (unknown.length > 0 ? ` (${unknown.join(", ")})` : "");
}

const UNSCORED = "no turn was scored: no reference, label, check or expected tool call applies";

/** Why a run does not meet the gate of its own turns. */
function gateFaults(
  numbers: RunNumbers,
  { threshold, criteria }: { threshold: number; criteria: PassCriteria },
): string[] {
  const { pass_rate, statistics, outcomes, barred, contradicting } = numbers;
  const { threshold: mean, minPassRate = mean === undefined ? 1 : undefined } = criteria;
  const show = (value: number, limit: number) => roundedBelow(value, { limit, digits: 3 });
  const faults: string[] = [];
  if (minPassRate !== undefined && !reaches(pass_rate!.mean, minPassRate)) {
    const rate = `the pass rate is ${show(pass_rate!.mean, minPassRate)}, needed ${minPassRate}: `;
    faults.push((criteria.minPassRate === undefined ? "" : rate) + unpassedText(numbers));
  }
  if (mean !== undefined) {
    const { byChecks, byTools } = barred;
    if (byChecks > 0) faults.push(`required checks failed in ${counted(byChecks, "turn")}`);
    if (byTools > 0) faults.push(`wrong tool calls in ${counted(byTools, "turn")}`);
    const overall = statistics[HEADLINE]!.mean!;
    if (!reaches(overall, threshold)) {
      const { failed, missing } = outcomes;
      const note = failed + missing > 0
        ? `; failed calls and missing scores count 0: ${unpassedText(numbers)}`
        : "";
      faults.push(`${HEADLINE} ${show(overall, threshold)} is below ${threshold}${note}`);
    }
  }
  if (criteria.failsOnContradiction && contradicting > 0) {
    const verb = contradicting === 1 ? "contradicts its" : "contradict their";
    faults.push(`${contradicting} ${contradicting === 1 ? "reply" : "replies"} ${verb} reference`);
  }
  return faults;
}
