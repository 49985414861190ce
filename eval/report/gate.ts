import { z } from "zod";
import { counted } from "../../shared/service/text.ts";
import type { Comparer } from "../figures/compare_stored.ts";
import { HEADLINE, reaches, thresholdOf } from "../figures/passing.ts";
import { findNewFailures } from "../figures/scenario_passes.ts";
import { isRegression } from "../figures/verdict.ts";
import type { StoredRun } from "../store/run_record.ts";
import { requireRun } from "../store/require_run.ts";
import type { RunStore } from "../store/store.ts";
import { createWholeReader } from "../store/whole_reader.ts";
import { rounded, roundedBelow } from "../test/rounding.ts";
import type { ExportSource } from "./format.ts";
import { readFallen } from "./text/compared_replies.ts";
import { pairReport } from "./compare_report.ts";
import { runReport } from "./run_report.ts";
import { renderText } from "./text/render.ts";
import { readNumbers, type RunNumbers } from "./text/run_numbers.ts";
import { terminalForm } from "./text/terminal_form.ts";

const Share = z.number().min(0).max(1);

/** What a run has to reach. */
export const GateInput = z.strictObject({
  threshold: Share.optional().meta({
    description:
      "A mean gate: `overall` must reach it, and no required check and no expected tool " +
      "call may fail. Turns pass from it on; from the run's own threshold if unset.",
  }),
  min_pass_rate: Share.optional().meta({
    description: "The share of the scenarios' attempts that must pass; 1 without `threshold`.",
  }),
  fail_on_contradiction: z.boolean().optional().meta({
    description: "Whether a reply that contradicts its reference fails the run.",
  }),
  baseline: z.string().optional().meta({ description: "A run that it must not be worse than." }),
  baseline_optional: z.boolean().optional().meta({
    description: "Whether the run may have nothing in common with its baseline.",
  }),
  fail_on_new_failures: z.boolean().default(true).meta({
    description: "Whether a scenario that passed in every attempt of the baseline, and passes in " +
      "none now, fails the run.",
  }),
  decide_by: z.string().min(1).optional().meta({
    description: "The score that decides the comparison; `overall` if unset.",
  }),
  min_difference: Share.optional().meta({
    description: "The smallest difference that matters in it.",
  }),
}).meta({ id: "GateInput" });
export type GateInput = z.infer<typeof GateInput>;

/** Whether a run meets its gate; `undecided` if it has nothing that could be held against it. */
export const GateAnswer = z.object({
  gate: z.enum(["passed", "failed", "undecided"]),
  reason: z.string(),
  report: z.string().meta({ description: "The run, and its comparison, for a terminal." }),
}).meta({ id: "GateAnswer" });
export type GateAnswer = z.infer<typeof GateAnswer>;

/** Holds a run that has ended against its gate, and stores the outcome. */
export async function holdAgainstGate(
  run: StoredRun,
  input: GateInput,
  { store, comparer }: { store: RunStore; comparer: Comparer },
): Promise<GateAnswer> {
  const { baseline, decide_by: decideBy, min_difference: minDifference } = input;
  const threshold = input.threshold ?? thresholdOf(run.request);
  const source: ExportSource = { run, reader: createWholeReader(store, run), threshold };
  const numbers = await readNumbers(source);
  let report = renderText(runReport(source, numbers), terminalForm);
  if (baseline !== undefined) {
    const before = await requireRun(store, baseline);
    const runs = [before.id, run.id];
    const result = await comparer.compare({ runs }, { decideBy, minDifference });
    const newFailures = input.fail_on_new_failures
      ? await findNewFailures(store, { baseline: before, candidate: run, threshold })
      : undefined;
    source.comparison = { result, newFailures, isRequired: !input.baseline_optional };
    const fallen = await readFallen(store, result);
    report += renderText(pairReport(result, { newFailures, fallen }), terminalForm);
  }
  const { gate, reason } = decide({ numbers, threshold, input, source });
  await store.setGate(run.id, gate === "passed" ? "passed" : "failed");
  return { gate, reason, report };
}

type Decision = Pick<GateAnswer, "gate" | "reason">;

/** Whether a run meets its gate, and why not. The words never say so of turns that do not pass. */
function decide({ numbers, threshold, input, source }: {
  numbers: RunNumbers;
  threshold: number;
  input: GateInput;
  source: ExportSource;
}): Decision {
  const { pass_rate, outcomes } = numbers;
  const undecided = (why: string): Decision => ({
    gate: "undecided",
    reason: `gate not met: ${why}`,
  });
  if (numbers.turns > 0 && numbers.failed === numbers.turns) {
    return undecided("the endpoint did not answer a single turn");
  }
  if (!pass_rate && (input.threshold ?? input.min_pass_rate) !== undefined) {
    return undecided("no turn has a score");
  }
  const { comparison } = source;
  const pair = comparison?.result.pairs?.[0];
  const decidedBy = comparison?.result.decided_by ?? HEADLINE;
  if (comparison?.isRequired && pair && !pair.scores[decidedBy]) return undecided(pair.reason!);
  const faults = [
    ...pass_rate ? gateFaults(numbers, { threshold, input }) : [],
    ...pair && isRegression(pair) ? [`regressed in ${decidedBy}`] : [],
    ...comparison?.newFailures?.length
      ? [counted(comparison.newFailures.length, "new failure")]
      : [],
  ];
  if (faults.length > 0) return { gate: "failed", reason: `gate not met: ${faults.join("; ")}` };
  if (!pass_rate) return { gate: "passed", reason: `gate met, but ${UNSCORED}` };
  const isWhole = outcomes.below + outcomes.failed + outcomes.missing === 0;
  const words = isWhole
    ? "every scenario passes"
    : [...gateReached(numbers, input), unpassedText(numbers)].join("; ");
  return { gate: "passed", reason: `gate met: ${words}` };
}

/** What a run reaches of a gate that some of its turns may miss. */
function gateReached(
  { statistics, pass_rate }: RunNumbers,
  { threshold, min_pass_rate: minPassRate }: GateInput,
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
  { threshold, input }: { threshold: number; input: GateInput },
): string[] {
  const { pass_rate, statistics, outcomes, barred, contradicting } = numbers;
  const { threshold: mean, min_pass_rate = mean === undefined ? 1 : undefined } = input;
  const show = (value: number, limit: number) => roundedBelow(value, { limit, digits: 3 });
  const faults: string[] = [];
  if (min_pass_rate !== undefined && !reaches(pass_rate!.mean, min_pass_rate)) {
    const rate = show(pass_rate!.mean, min_pass_rate);
    const why = `the pass rate is ${rate}, needed ${min_pass_rate}: `;
    faults.push((input.min_pass_rate === undefined ? "" : why) + unpassedText(numbers));
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
  if (input.fail_on_contradiction && contradicting > 0) {
    const verb = contradicting === 1 ? "contradicts its" : "contradict their";
    faults.push(`${contradicting} ${contradicting === 1 ? "reply" : "replies"} ${verb} reference`);
  }
  return faults;
}
