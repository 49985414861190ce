import { counted } from "../../../shared/text.ts";
import { formatP } from "../../schemas/rounding.ts";
import type { ScoreComparison } from "../../compare/comparison.ts";
import type { GroupModel, GroupPair, GroupReport } from "../../groups/group_report.ts";
import { HEADLINE } from "../../results/passing.ts";
import { differenceText } from "./comparison_text.ts";
import { describeCosts, describeError, describeMissing } from "./run_text.ts";
import {
  firstLines,
  showCost,
  showInterval,
  showMean,
  showScore,
  type TextForm,
} from "./text_form.ts";

/** Errors of one model, and reasons: a comment has room for 65,536 characters. */
const SHOWN_FAULTS = 3;

/** Pairs in the table, and per reason: their number grows with the square of the models. */
const SHOWN_PAIRS = 20;
const SHOWN_OF_REASON = 5;
const SHOWN_REASONS = 5;

/** A group for people: the table of models and scores, and which model is better than which. */
export function describeGroup(report: GroupReport, form: TextForm): string {
  const { test_name, status, group_id, dataset, progress, models } = report;
  return [
    form.title(`Evaluation ${form.name(test_name)}: ${models.length} models, ${status}`, 1),
    form.lines([
      `Group ${form.name(group_id)}`,
      ...(dataset === undefined ? [] : [`Dataset ${form.message(dataset)}`]),
      `Turns ${progress.done} of ${progress.total}` +
      (progress.failed > 0 ? `, ${progress.failed} failed` : ""),
      ...describeCosts(report),
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
  const isWhole = ({ status }: GroupModel) => Number(status === "completed");
  const ordered = models.toSorted((a, b) => isWhole(b) - isWhole(a));
  const rows = ordered.map(({ name, status, scores, pass_rate, progress, latency_ms, cost }) => {
    const headline = scores?.[HEADLINE];
    return [
      form.name(name) + (status === "completed" ? "" : ` (${status})`),
      showMean(headline),
      showInterval(headline?.ci95, showScore),
      showScore(pass_rate?.mean),
      `${progress.failed}`,
      latency_ms ? `${Math.round(latency_ms.p50)} ms` : "–",
      ...(hasCost ? [cost ? showCost(cost) : "–"] : []),
    ];
  });
  const header = ["model", HEADLINE, "95 %", "pass rate", "failed", "p50"];
  return form.table([...header, ...(hasCost ? ["cost"] : [])], rows);
}

/** A row per score, a column per model. */
function describeScores(models: GroupModel[], form: TextForm): string {
  const names = new Set(
    models.flatMap(({ scores }) =>
      Object.keys(scores ?? {}).filter((name) =>
        scores![name]!.mean !== null || scores![name]!.bounds
      )
    ),
  );
  names.delete(HEADLINE);
  const rows = [HEADLINE, ...names].map((name) => [
    form.name(name),
    ...models.map(({ scores }) => showMean(scores?.[name])),
  ]);
  return form.table(["score", ...models.map(({ name }) => form.name(name))], rows);
}

/** Two models, by the deciding score. */
interface ComparedPair extends GroupPair {
  compared: ScoreComparison;
}

function describePairs({ pairs, best, decided_by, tests }: GroupReport, form: TextForm): string {
  if (!pairs || decided_by === null || pairs.length === 0) return "";
  const compared = pairs.flatMap((pair): ComparedPair[] => {
    const score = pair.scores[decided_by];
    return score ? [{ ...pair, compared: score }] : [];
  });
  const shown = compared.length <= SHOWN_PAIRS
    ? compared
    : decidedFirst(compared).slice(0, SHOWN_PAIRS);
  const rows = shown.map((pair) => [
    `${form.name(pair.candidate)} − ${form.name(pair.baseline)}`,
    differenceText(pair.compared),
    showInterval(pair.compared.ci95),
    formatP(pair.compared.p ?? 1),
    pair.better === null ? "inconclusive" : form.name(pair.better),
  ]);
  const models = new Set(pairs.flatMap(({ baseline, candidate }) => [baseline, candidate]));
  const more = compared.length - shown.length;
  const isIncomplete = compared.some(({ compared: { turns_without_pair = 0 } }) =>
    turns_without_pair > 0
  );
  return [
    form.title(`Which is better by ${form.name(decided_by)}`, 2),
    form.table(["difference of", "mean", "95 %", "p", "better"], rows),
    "\n",
    form.lines([
      ...more > 0 ? [`and ${counted(more, "more pair")}`] : [],
      describeBest(best ?? [], { of: models.size, form }),
      `p and intervals are corrected for ${counted(tests ?? 0, "pair")}`,
      ...isIncomplete ? ["Two models are compared by the turns that both have"] : [],
      ...describeReasons(pairs, form),
    ]),
  ].join("");
}

function decidedFirst(pairs: ComparedPair[]): ComparedPair[] {
  const isOpen = ({ verdict }: ComparedPair) => Number(verdict === "inconclusive");
  return pairs.toSorted((a, b) => isOpen(a) - isOpen(b));
}

/** Why pairs have no verdict; those with the same reason together. */
function describeReasons(pairs: GroupPair[], form: TextForm): string[] {
  const open = pairs.filter(({ reason }) => reason !== null);
  const lines = [...Map.groupBy(open, ({ reason }) => reason)].map(([reason, found]) => {
    const named = found.slice(0, SHOWN_OF_REASON).map(({ baseline, candidate }) =>
      `${form.name(candidate)} − ${form.name(baseline)}`
    );
    const more = found.length - named.length;
    return `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}: ${reason}`;
  });
  return firstLines(lines, { most: SHOWN_REASONS, noun: "reason" });
}

function describeBest(
  best: string[],
  { of, form }: { of: number; form: TextForm },
): string {
  const [only, ...others] = best;
  if (only === undefined) return "Each model is worse than another one";
  if (others.length === 0) return `Best: ${form.name(only)}`;
  if (best.length === of) return "No model was shown to be better than another one";
  return `No model was shown to be better than ${best.map(form.name).join(", ")}`;
}
