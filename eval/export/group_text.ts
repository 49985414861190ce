import { counted } from "../../shared/counted.ts";
import { formatP } from "../../shared/rounding.ts";
import type { GroupModel, GroupPair, GroupReport } from "../groups/group_report.ts";
import { HEADLINE } from "../results/passing.ts";
import { describePlanning } from "./comparison_text.ts";
import { showCost } from "./cost_text.ts";
import { describeError, describeMissing } from "./run_text.ts";
import { firstLines, showDifference, showScore, type TextForm } from "./text_form.ts";

/** Of one model, errors and reasons alike: a comment has room for 65,536 characters. */
const SHOWN_FAULTS = 3;

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
  const hasFailed = models.some(({ scores }) => scores?.[HEADLINE]?.error_bounds);
  const rows = models.map(({ name, scores, pass_rate, progress, latency_ms, cost }) => {
    const { mean = null, ci95, error_bounds } = scores?.[HEADLINE] ?? {};
    return [
      form.name(name),
      showScore(mean),
      showInterval(ci95),
      pass_rate ? showScore(pass_rate.mean) : "–",
      `${progress.failed}`,
      ...(hasFailed ? [showInterval(error_bounds)] : []),
      latency_ms ? `${Math.round(latency_ms.p50)} ms` : "–",
      ...(hasCost ? [cost ? showCost(cost) : "–"] : []),
    ];
  });
  return form.table(
    [
      ...["model", HEADLINE, "95 %", "pass rate", "failed"],
      ...(hasFailed ? ["error bounds"] : []),
      "p50",
      ...(hasCost ? ["cost"] : []),
    ],
    rows,
  );
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

function describePairs({ pairs, best, method }: GroupReport, form: TextForm): string {
  if (!pairs || !method || pairs.length === 0) return "";
  const rows = pairs.flatMap(({ baseline, candidate, scores }) =>
    Object.entries(scores).map(([score, compared]) => [
      `${form.name(candidate)} − ${form.name(baseline)}`,
      ...(method.scores.length > 1 ? [form.name(score)] : []),
      showDifference(compared.difference),
      compared.ci95 ? compared.ci95.map(showDifference).join(" … ") : "–",
      formatP(compared.p_adjusted),
      nameBetter({ baseline, candidate, verdict: compared.verdict }, form),
    ])
  );
  const header = ["difference of", ...(method.scores.length > 1 ? ["score"] : [])];
  const reasons = pairs.flatMap(({ baseline, candidate, scores }) =>
    Object.entries(scores)
      .filter(([, { reason, difference }]) => reason !== null && difference !== 0)
      .map(([score, { reason }]) =>
        `${form.name(candidate)} and ${form.name(baseline)}: ` +
        (method.scores.length > 1 ? `${form.name(score)}: ${reason}` : reason)
      )
  );
  const plans = pairs.flatMap(({ baseline, candidate, scores }) =>
    Object.entries(scores).flatMap(([score, compared]) =>
      describePlanning(score, compared, form)
        .map((plan) => `${form.name(candidate)} and ${form.name(baseline)}: ${plan}`)
    )
  );
  return [
    form.title(`Which is better by ${method.scores.map(form.name).join(", ")}`, 2),
    form.table([...header, "mean", "95 %", "adjusted p", "better"], rows),
    "\n",
    form.lines([
      describeBest(best ?? [], form),
      `p is adjusted for ${counted(method.tests, "comparison")}`,
      ...reasons,
      ...plans,
    ]),
  ].join("");
}

function nameBetter(
  { baseline, candidate, verdict }: Pick<GroupPair, "baseline" | "candidate" | "verdict">,
  form: TextForm,
): string {
  if (verdict === "inconclusive") return "inconclusive";
  return form.name(verdict === "improved" ? candidate : baseline);
}

function describeBest(best: string[], form: TextForm): string {
  const [only, ...others] = best;
  if (only === undefined) return "Each model is worse than another one in some score";
  if (others.length === 0) return `Best: ${form.name(only)}`;
  return `No model was shown to be better than ${best.map(form.name).join(", ")}`;
}

function showInterval(ci95: [number, number] | null | undefined): string {
  return ci95 ? ci95.map(showScore).join(" … ") : "–";
}
