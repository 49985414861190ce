import { counted } from "../../../shared/counted.ts";
import { formatP } from "../../../shared/rounding.ts";
import type { Statistic } from "../../schemas/statistics.ts";
import type { ScoreComparison } from "../../compare/comparison.ts";
import type { GroupModel, GroupPair, GroupReport } from "../../groups/group_report.ts";
import { HEADLINE } from "../../results/passing.ts";
import { scenariosPlanned } from "./comparison_text.ts";
import { showCost } from "./cost_text.ts";
import { describeError, describeMissing } from "./run_text.ts";
import { firstLines, showDifference, showScore, type TextForm } from "./text_form.ts";

/** Of one model, errors and reasons alike: a comment has room for 65,536 characters. */
const SHOWN_FAULTS = 3;

/** Pairs in the table, and of one reason: their number grows with the square of the models. */
const SHOWN_PAIRS = 20;
const SHOWN_OF_REASON = 5;
const SHOWN_REASONS = 5;

const BOUNDS =
  "Means are over what has a score, and failed calls count 0; bounds are over all, with " +
  "what failed or is missing at 0 and at 1";

/** A group for people: the table of models and scores, and which model is better than which. */
export function describeGroup(report: GroupReport, form: TextForm): string {
  const { test_name, status, group_id, dataset, progress, models, cost, judge_cost } = report;
  return [
    form.title(`Evaluation ${form.name(test_name)}: ${models.length} models, ${status}`, 1),
    form.lines([
      `Group ${form.name(group_id)}`,
      ...(dataset === undefined ? [] : [`Dataset ${form.message(dataset)}`]),
      `Turns ${progress.done} of ${progress.total}` +
      (progress.failed > 0 ? `, ${progress.failed} failed` : ""),
      ...(cost ? [`Cost ${showCost(cost)}`] : []),
      ...(judge_cost ? [`Cost of the judge ${showCost(judge_cost)}`] : []),
      ...models.filter((model) => model.status !== "completed").map((model) =>
        `${form.name(model.name)} is ${model.status}: ${model.progress.done} of ` +
        `${model.progress.total} turns` + (model.detail ? `, ${form.message(model.detail)}` : "")
      ),
      ...models.flatMap((model) => describeFaults(model, form)),
    ]),
    form.title("Models", 2),
    describeModels(models, form),
    form.title("Scores", 2),
    describeScores(models, form),
    describePairs(report, form),
  ].join("");
}

/** Why calls of a model failed, and why scores of it are missing. */
function describeFaults(model: GroupModel, form: TextForm): string[] {
  const errors = model.errors.map((error) => describeError(error, form));
  const faults = [
    ...firstLines(errors, { most: SHOWN_FAULTS, noun: "error code" }),
    ...firstLines(describeMissing(model, form), { most: SHOWN_FAULTS, noun: "reason" }),
  ];
  return faults.map((fault) => `${form.name(model.name)}: ${fault}`);
}

function describeModels(models: GroupModel[], form: TextForm): string {
  const hasCost = models.some(({ cost }) => cost);
  const boundsOf = (statistic: Partial<Statistic>) => statistic.error_bounds ?? statistic.bounds;
  const hasUnknown = models.some(({ scores }) => boundsOf(scores?.[HEADLINE] ?? {}));
  const rows = models.map(({ name, scores, pass_rate, progress, latency_ms, cost }) => {
    const headline: Partial<Statistic> = scores?.[HEADLINE] ?? {};
    return [
      form.name(name),
      showScore(headline.mean),
      showInterval(headline.ci95),
      pass_rate ? showScore(pass_rate.mean) : "–",
      `${progress.failed}`,
      ...(hasUnknown ? [showInterval(boundsOf(headline))] : []),
      latency_ms ? `${Math.round(latency_ms.p50)} ms` : "–",
      ...(hasCost ? [cost ? showCost(cost) : "–"] : []),
    ];
  });
  return form.table(
    [
      ...["model", HEADLINE, "95 %", "pass rate", "failed"],
      ...(hasUnknown ? ["bounds"] : []),
      "p50",
      ...(hasCost ? ["cost"] : []),
    ],
    rows,
  ) + (hasUnknown ? `\n${form.lines([BOUNDS])}` : "");
}

/** A row per score, a column per model. */
function describeScores(models: GroupModel[], form: TextForm): string {
  const names = new Set(
    models.flatMap(({ scores }) =>
      Object.keys(scores ?? {}).filter((name) => scores![name]!.mean !== null)
    ),
  );
  names.delete(HEADLINE);
  const rows = [HEADLINE, ...names].map((name) => [
    form.name(name),
    ...models.map(({ scores }) => showScore(scores?.[name]?.mean)),
  ]);
  return form.table(["score", ...models.map(({ name }) => form.name(name))], rows);
}

/** One score of two models. */
interface ComparedPair extends Pick<GroupPair, "baseline" | "candidate"> {
  score: string;
  compared: ScoreComparison;
}

function describePairs({ pairs, best, method }: GroupReport, form: TextForm): string {
  if (!pairs || !method || pairs.length === 0) return "";
  const tests = pairs.flatMap(({ baseline, candidate, scores }) =>
    Object.entries(scores).map(([score, compared]) => ({ baseline, candidate, score, compared }))
  );
  const shown = tests.length <= SHOWN_PAIRS ? tests : decidedFirst(tests).slice(0, SHOWN_PAIRS);
  const hasScores = method.scores.length > 1;
  const hasPlans = shown.some(({ compared }) => scenariosPlanned(compared));
  const rows = shown.map((pair) => {
    const { baseline, candidate, score, compared } = pair;
    return [
      `${form.name(candidate)} − ${form.name(baseline)}`,
      ...(hasScores ? [form.name(score)] : []),
      showDifference(compared.difference),
      compared.ci95 ? compared.ci95.map(showDifference).join(" … ") : "–",
      formatP(compared.p_adjusted),
      nameBetter(pair, form),
      ...(hasPlans ? [scenariosPlanned(compared) ?? "–"] : []),
    ];
  });
  const models = new Set(pairs.flatMap(({ baseline, candidate }) => [baseline, candidate]));
  const more = tests.length - shown.length;
  const isIncomplete = tests.some(({ compared: { missing, turns_without_pair } }) =>
    missing.baseline + missing.candidate + turns_without_pair > 0
  );
  return [
    form.title(`Which is better by ${method.scores.map(form.name).join(", ")}`, 2),
    form.table([
      ...["difference of", ...(hasScores ? ["score"] : []), "mean", "95 %", "adjusted p", "better"],
      ...(hasPlans ? ["scenarios needed"] : []),
    ], rows),
    "\n",
    form.lines([
      ...more > 0 ? [`and ${counted(more, "more comparison")}`] : [],
      describeBest(best ?? [], { of: models.size, form }),
      `p is adjusted for ${counted(method.tests, "comparison")}`,
      ...hasPlans ? [describePlan(tests)] : [],
      ...isIncomplete ? ["Two models are compared by the scores that both have"] : [],
      ...describeReasons(tests, { hasScores, form }),
    ]),
  ].join("");
}

function decidedFirst(tests: ComparedPair[]): ComparedPair[] {
  const isOpen = ({ compared }: ComparedPair) => Number(compared.verdict === "inconclusive");
  return tests.toSorted((a, b) => isOpen(a) - isOpen(b));
}

function describePlan(tests: ComparedPair[]): string {
  const planned = tests.map(({ compared }) => compared).filter(scenariosPlanned);
  const counts = planned.map(({ scenarios }) => scenarios);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return `So many scenarios of this kind would show the present difference with ` +
    `${100 * planned[0]!.planning!.power} % power; these are ` +
    (least === most ? `${most}` : `${least} to ${most}`);
}

/** Why pairs that differ have no verdict; those with the same reason together. */
function describeReasons(
  tests: ComparedPair[],
  { hasScores, form }: { hasScores: boolean; form: TextForm },
): string[] {
  const undecided = tests
    .filter(({ compared: { reason, difference } }) => reason !== null && difference !== 0);
  const lines = [...Map.groupBy(undecided, ({ compared }) => compared.reason)].map(
    ([reason, found]) => {
      const named = found.slice(0, SHOWN_OF_REASON).map(({ baseline, candidate, score }) =>
        `${form.name(candidate)} − ${form.name(baseline)}` +
        (hasScores ? ` (${form.name(score)})` : "")
      );
      const more = found.length - named.length;
      return `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}: ${reason}`;
    },
  );
  return firstLines(lines, { most: SHOWN_REASONS, noun: "reason" });
}

function nameBetter(
  { baseline, candidate, compared: { verdict } }: ComparedPair,
  form: TextForm,
): string {
  if (verdict === "inconclusive") return "inconclusive";
  return form.name(verdict === "improved" ? candidate : baseline);
}

function describeBest(
  best: string[],
  { of, form }: { of: number; form: TextForm },
): string {
  const [only, ...others] = best;
  if (only === undefined) return "Each model is worse than another one in some score";
  if (others.length === 0) return `Best: ${form.name(only)}`;
  if (best.length === of) return "No model was shown to be better than another one";
  return `No model was shown to be better than ${best.map(form.name).join(", ")}`;
}

function showInterval(ci95: [number, number] | null | undefined): string {
  return ci95 ? ci95.map(showScore).join(" … ") : "–";
}
