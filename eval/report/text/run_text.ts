import { counted } from "../../../shared/service/text.ts";
import type { Statistic } from "../../test/statistics.ts";
import { HEADLINE } from "../../figures/passing.ts";
import type { RunSummary } from "../../figures/run_summary.ts";
import { GIVEN_REPLIES, withoutQuery } from "../../ask/endpoint_address.ts";
import { countedTurns, type RunNumbers } from "./run_numbers.ts";
import type { ExportSource } from "../format.ts";
import { describeLowestReplies } from "./reply_text.ts";
import { spreadLines } from "./spread_text.ts";
import {
  firstLines,
  showCost,
  showDifference,
  showInterval,
  showScore,
  type TextForm,
} from "./text_form.ts";

/** How many scenarios are shown: a pull request's comment holds 65,536 characters. */
const SHOWN_SCENARIOS = 10;
const SHOWN_REASONS = 10;
const SHOWN_CHECKS = 20;

/** A run for people: what it was, whether it passed, the averages, and where to look first. */
export function describeRun(
  source: ExportSource,
  { numbers, form }: { numbers: RunNumbers; form: TextForm },
): string {
  const { run } = source;
  const { truncated, barred: { byTools } } = numbers;
  return [
    form.title(`Evaluation ${form.name(run.testName)}: ${describeOutcome(numbers, run)}`, 1),
    form.lines([
      run.endpoint
        ? `Model ${form.name(run.modelId)} at ${form.name(withoutQuery(run.endpoint))}`
        : `Model ${form.name(run.modelId)}, ${GIVEN_REPLIES}`,
      `Run ${form.name(run.id)}, ${run.status}`,
      ...(run.request.dataset === undefined
        ? []
        : [`Dataset ${form.message(run.request.dataset)}`]),
      `Turns ${numbers.turns} of ${countedTurns(run)}: ${describeCounts(numbers)}`,
      ...numbers.errors.map((error) => describeError(error, form)),
      ...describeUsage(numbers),
      ...describeCosts(numbers),
      ...firstLines(describeMissing(numbers, form), { most: SHOWN_REASONS, noun: "reason" }),
      ...describeMethods(numbers, form),
      ...describeAgreement(numbers),
      ...describeLabels(numbers, form),
      ...(truncated > 0 ? [`Replies cut off at the token limit: ${truncated}`] : []),
      ...(byTools > 0 ? [`Turns whose tool calls are not those expected: ${byTools}`] : []),
      ...describeGrades(numbers),
    ]),
    form.title("Scores", 2),
    describeScores(numbers, form),
    describeHistoryGap(numbers, form),
    describeChecks(numbers, form),
    describeLowest(numbers, form),
    describeLowestReplies(numbers, form),
  ].join("");
}

/** How many scenarios pass; of attempts that only sometimes do, too. */
function describeOutcome(
  { standings: { passed, sometimes, ...others }, turns, failed, pass_rate }: RunNumbers,
  { status }: ExportSource["run"],
): string {
  if (status !== "completed") return status;
  if (turns > 0 && failed === turns) return "no turn was answered";
  if (!pass_rate) return "not scored";
  const all = passed + sometimes + others.failed + others.unscored;
  return `${passed} of ${counted(all, "scenario")} ${
    passed === 1 || all === 1 ? "passes" : "pass"
  }` +
    (sometimes > 0 ? `, ${sometimes} sometimes` : "");
}

function describeCounts(
  { passed, below, failed, missing, unscored }: RunNumbers,
): string {
  return `${passed} ${passed === 1 ? "passes" : "pass"}, ${below} ${
    below === 1 ? "does" : "do"
  } not` +
    (failed > 0 ? `, ${counted(failed, "failed call")}` : "") +
    (missing > 0 ? `, ${missing} with a missing score` : "") +
    (unscored > 0 ? `, ${unscored} without a score` : "");
}

function describeUsage({ usage: { input_tokens, output_tokens } }: RunNumbers): string[] {
  if (input_tokens + output_tokens === 0) return []; // the endpoint does not report them
  return [`Tokens ${input_tokens} input, ${output_tokens} output`];
}

/** What a run or a group cost, as far as that is known. */
export function describeCosts(
  { cost, judge_cost }: Pick<RunSummary, "cost" | "judge_cost">,
): string[] {
  return [
    ...(cost ? [`Cost ${showCost(cost)}`] : []),
    ...(judge_cost ? [`Cost of the judge ${showCost(judge_cost)}`] : []),
  ];
}

/** Why calls of one kind failed. */
export function describeError(
  { code, turns, detail }: RunSummary["errors"][number],
  form: TextForm,
): string {
  return `Failed ${turns} × ${form.name(code)}: ${form.message(detail)}`;
}

/** Why scores are missing. The headline's own line is shown if it does not just repeat its parts. */
export function describeMissing(
  { missing_scores }: Pick<RunSummary, "missing_scores">,
  form: TextForm,
): string[] {
  return missing_scores
    .filter(({ score, reason }) => score !== HEADLINE || !reason.startsWith("without "))
    .map(({ score, reason, turns }) =>
      `Missing ${turns} × ${form.name(score)}: ${form.message(reason)}`
    );
}

/** How many replies say what their references say, and what is wrong in the others. */
function describeAgreement({ differs_in, agreements = {} }: RunNumbers): string[] {
  const list = (counts: Record<string, number>) =>
    Object.entries(counts).map(([name, turns]) => `${name} ${turns}`).join(", ");
  return [
    ...(Object.keys(agreements).length > 0
      ? [`Agreement with the references: ${list(agreements)}`]
      : []),
    ...(Object.keys(differs_in).length > 0
      ? [`Turns that differ from their reference in ${list(differs_in)}`]
      : []),
  ];
}

/** Where the labels of each key count. */
function describeLabels({ labels }: RunNumbers, form: TextForm): string[] {
  return Object.entries(labels).map(([key, { counts, of }]) =>
    `Label ${form.name(key)} counts at ${counts} of ${counted(of, "turn")}` +
    (counts < of ? ", not where the reference itself is misread" : "")
  );
}

/** Scores that were computed by several methods: their means mix these. */
function describeMethods({ score_methods }: RunNumbers, form: TextForm): string[] {
  return Object.entries(score_methods).filter(([, methods]) => Object.keys(methods).length > 1)
    .map(([score, methods]) => {
      const counts = Object.entries(methods).map(([method, turns]) =>
        `${form.name(method)} (${counted(turns, "turn")})`
      );
      return `${form.name(score)} was computed by ${counts.join(" and ")}`;
    });
}

function describeGrades({ graded: { turns, grades, sum } }: RunNumbers): string[] {
  if (turns === 0) return [];
  const [ofTurns, all] = [counted(turns, "turn"), counted(grades, "grade")];
  return [`Graded by people: ${ofTurns}, ${all}, mean ${showScore(sum / grades)}`];
}

/** Each mean with the number of its turns. */
function describeScores(numbers: RunNumbers, form: TextForm): string {
  const { statistics, notes: runNotes } = numbers;
  const names = [
    HEADLINE,
    ...Object.keys(statistics).filter((name) =>
      name !== HEADLINE && statistics[name]!.mean !== null
    ),
  ];
  const isIncomplete = names.some((name) => (statistics[name]?.missing ?? 0) > 0);
  const hasFailed = names.some((name) => (statistics[name]?.failed ?? 0) > 0);
  const notes = [
    ...describeInterval(statistics[HEADLINE]),
    ...spreadLines(numbers),
    ...runNotes.filter(({ code }) => code === "identical_questions").map(({ detail }) => detail),
  ];
  return form.table(
    [
      "score",
      "mean",
      "turns",
      ...(isIncomplete ? ["missing"] : []),
      ...(hasFailed ? ["failed"] : []),
    ],
    names.map((name) => {
      const { turns = 0, missing = 0, failed = 0 } = statistics[name] ?? {};
      return [
        form.name(name),
        showScore(statistics[name]?.mean),
        `${turns}`,
        ...(isIncomplete ? [`${missing}`] : []),
        ...(hasFailed ? [`${failed}`] : []),
      ];
    }),
  ) + (notes.length > 0 ? `\n${form.lines(notes)}` : "");
}

/** The interval of the mean over scenarios of this kind, or why there is none. */
function describeInterval(headline: Statistic | undefined): string[] {
  if (!headline?.ci95) {
    return headline?.ci95_reason ? [`No interval of ${HEADLINE}: ${headline.ci95_reason}`] : [];
  }
  const [low, high] = headline.ci95.map(showScore);
  return [`95 % interval of ${HEADLINE}: ${low} … ${high}, over ${headline.n} scenarios`];
}

/** How much later turns lose when they are asked after replies instead of references. */
function describeHistoryGap({ history_gap }: RunNumbers, form: TextForm): string {
  if (!history_gap) return "";
  const rows = Object.entries(history_gap).map(([name, { generated, reference, gap, ci95 }]) => [
    form.name(name),
    showScore(generated),
    showScore(reference),
    showDifference(gap),
    showInterval(ci95),
  ]);
  return form.title("History gap", 2) +
    form.table(["score of turn 2 and later", "generated", "reference", "gap", "95 %"], rows);
}

/** The checks that were not met everywhere, those that failed most first. */
function describeChecks(
  { check_counts = [], failed: failedCalls }: RunNumbers,
  form: TextForm,
): string {
  if (check_counts.length === 0) return "";
  const wanting = check_counts.filter(({ failed, missing }) => failed + missing > 0);
  if (wanting.length === 0) {
    const all = check_counts.length === 1
      ? "The check was"
      : `All ${check_counts.length} checks were`;
    const byWhat = failedCalls === 0 ? "" : " by every reply that came";
    return `\n${form.lines([`${all} met${byWhat}`])}`;
  }
  const rows = wanting.slice(0, SHOWN_CHECKS).map(({ name, required, ...count }) => [
    form.name(name),
    required ? "yes" : "no",
    `${count.failed}`,
    `${count.missing}`,
    `${count.passed}`,
  ]);
  const more = wanting.length - rows.length;
  return form.title("Failed checks", 2) +
    form.table(["check", "required", "failed", "missing", "met"], rows) +
    (more > 0 ? form.lines([`and ${counted(more, "more check")} not met everywhere`]) : "");
}

function describeLowest(
  { scenarios }: RunNumbers,
  form: TextForm,
): string {
  const wanting = scenarios
    .filter(({ below, failed, missing }) => below + failed + missing > 0)
    .sort((a, b) => (a.averages[HEADLINE] ?? 0) - (b.averages[HEADLINE] ?? 0));
  if (wanting.length === 0) return "";
  const isIncomplete = wanting.some(({ missing }) => missing > 0);
  const rows = wanting.slice(0, SHOWN_SCENARIOS).map((scenario) => [
    form.name(scenario.label),
    showScore(scenario.averages[HEADLINE]),
    `${scenario.below} of ${scenario.turns}`,
    `${scenario.failed}`,
    ...(isIncomplete ? [`${scenario.missing}`] : []),
  ]);
  const more = wanting.length - rows.length;
  return form.title("Lowest scenarios", 2) +
    form.table([
      ...["scenario", HEADLINE, "turns that do not pass", "failed calls"],
      ...(isIncomplete ? ["missing scores"] : []),
    ], rows) +
    (more > 0 ? form.lines([`and ${more} more with turns that did not pass`]) : "");
}
