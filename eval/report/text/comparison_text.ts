import { counted } from "../../../shared/service/text.ts";
import { formatP } from "../../test/rounding.ts";
import type {
  ComparedPair,
  LeftOut,
  MovedScenario,
  ScoreComparison,
  Unpaired,
} from "../../figures/comparison.ts";
import type { ComparedRun, Comparison } from "../../figures/compare_stored.ts";
import type { Preference } from "../../figures/judge_preference.ts";
import { HEADLINE } from "../../figures/passing.ts";
import type { FallenReply } from "./compared_replies.ts";
import { describeCosts, describeError, describeMissing } from "./run_text.ts";
import {
  firstLines,
  showCost,
  showDifference,
  showInterval,
  showScore,
  type TextForm,
} from "./text_form.ts";
import { describeReply } from "./reply_text.ts";

/** Two runs, and the score that decides. */
type Verdicts = Pick<Comparison, "decided_by" | "min_difference"> & { pair: ComparedPair };

const SHOWN_NAMES = 5;

/** Errors of one model, and reasons: a comment has room for 65,536 characters. */
const SHOWN_FAULTS = 3;

/** Pairs in the table, and per reason: their number grows with the square of the models. */
const SHOWN_PAIRS = 20;
const SHOWN_OF_REASON = 5;
const SHOWN_REASONS = 5;

/** In words why something was not compared. */
const LEFT_OUT_REASONS: Record<LeftOut["reason"], string> = {
  not_in_baseline: "the baseline does not have it",
  not_in_candidate: "the candidate does not have it",
  other_method: "the runs computed it by different methods",
  other_expectation: "the runs do not expect the same there",
  no_common_part: "none of its parts can be compared",
};

/** What a text says beside what the comparison itself holds. */
interface ComparisonRemarks {
  newFailures?: string[] | undefined;
  preference?: Preference | undefined;
  fallen?: FallenReply[] | undefined;
}

/** A comparison for people: of two runs what changed, of several models their tables and pairs. */
export function describeComparison(
  comparison: Comparison,
  form: TextForm,
  remarks: ComparisonRemarks = {},
): string {
  const { runs, group_id } = comparison;
  if (runs.length === 2 && group_id === undefined) return describePair(comparison, form, remarks);
  return [
    describeHead(comparison, form),
    form.title("Models", 2),
    describeModels(runs, form),
    form.title("Scores", 2),
    describeScores(runs, form),
    describePairs(comparison, form),
  ].join("");
}

/** Two runs: the verdict, what moved, and what could not be compared. */
export function describePair(
  { pairs, ...comparison }: Comparison,
  form: TextForm,
  { newFailures = [], preference, fallen = [] }: ComparisonRemarks = {},
): string {
  const verdicts = { ...comparison, pair: pairs![0]! };
  const { decided_by, runs: [baseline] } = comparison;
  const { reason, scores, moved, changed, notes: found, ...pair } = verdicts.pair;
  const notes = [
    ...preference ? [describePreference(preference, form)] : [],
    ...newFailures.length > 0
      ? [
        `New failures, which passed in every attempt before and in none now: ${
          listNames(newFailures, form)
        }`,
      ]
      : [],
    ...reason === null ? [] : [`${form.name(decided_by)}: ${reason}`],
    ...describeUnknown(verdicts, form),
    ...found.map(({ detail }) => detail),
    ...pair.left_out.map((found) => describeLeftOut(found, form)),
    ...describeUnpaired("Only in the baseline", { unpaired: pair.only_in_baseline, form }),
    ...describeUnpaired("Only in the candidate", { unpaired: pair.only_in_candidate, form }),
    ...describeHistory(pair),
    ...describeDatasets(comparison, form),
    ...changed.length > 0
      ? [`Paired by id, but not the same in both runs: ${listNames(changed, form)}`]
      : [],
  ];
  return [
    form.title(`Compared with ${form.name(baseline!.run_id)}: ${describeVerdict(verdicts)}`, 2),
    `${describeSides(comparison.runs, form)}\n`,
    Object.keys(scores).length === 0
      ? form.lines(["The runs have no scenario and score in common."])
      : describeDifferences(verdicts, form),
    ...moved
      ? [
        describeMoved("improved most", { scenarios: moved.up, form }),
        describeMoved("fell most", { scenarios: moved.down, form }),
      ]
      : [],
    notes.length > 0 ? `\n${form.lines(notes)}` : "",
    describeFallen(fallen, form),
  ].join("");
}

/** What the judge says, beside the verdict of the score. */
export function describePreference(preference: Preference, form: TextForm): string {
  const { judge, verdict, reason, missing, ...counts } = preference;
  const unjudged = Object.entries(missing).map(([why, turns]) => `, ${turns} not judged (${why})`);
  return `The judge (${form.name(judge)}) prefers the candidate in ` +
    `${counted(counts.candidate_better, "turn")} and the baseline in ${counts.baseline_better}; ` +
    `${counts.ties} ties, ${counts.contradictory} that change with the order${
      unjudged.join("")
    }: ` +
    verdict + (reason === null ? "" : ` (${reason})`);
}

function describeVerdict(
  { pair: { verdict, scores }, decided_by, min_difference }: Verdicts,
): string {
  const score = scores[decided_by];
  const interval = score?.ci95 ? `, 95 % ${showInterval(score.ci95)}` : "";
  const size = score ? ` (${showDifference(score.difference)}${interval})` : "";
  const limit = min_difference === undefined ? "" : `, where less than ${min_difference} is equal`;
  return `${decided_by} ${verdict.replace("_", " ")}${size}${limit}`;
}

function describeHistory({ other_history: found }: Pick<ComparedPair, "other_history">): string[] {
  if (!found) return [];
  return [
    `Not compared: ${counted(found.turns, "turn")} after the first; one ` +
    "run was asked after its own replies, the other one after the references",
  ];
}

/** If both runs name a dataset, and not the same version. */
function describeDatasets(
  { runs: [baseline, candidate] }: Pick<Comparison, "runs">,
  form: TextForm,
) {
  const before = baseline?.dataset;
  const now = candidate?.dataset;
  if (before === undefined || now === undefined || before === now) return [];
  return [`The datasets differ: ${form.name(before)} before, ${form.name(now)} now`];
}

/** The deciding score with its p-value; the others only describe what moved with it. */
function describeDifferences({ pair: { scores }, decided_by }: Verdicts, form: TextForm): string {
  const rows = Object.entries(scores).map(([name, score]) => [
    form.name(name),
    showScore(score.baseline),
    showScore(score.candidate),
    showDifference(score.difference),
    showInterval(score.ci95),
    name === decided_by ? formatP(score.p ?? 1) : "",
  ]);
  return form.table(["score", "before", "now", "difference", "95 %", "p"], rows);
}

/** Turns that count 0 in the deciding score. */
function describeUnknown({ pair: { scores }, decided_by }: Verdicts, form: TextForm): string[] {
  const { missing, failed } = scores[decided_by] ?? {};
  const both = (count: { baseline: number; candidate: number }) =>
    `${counted(count.baseline, "turn")} of the baseline and ${count.candidate} of the candidate`;
  return [
    ...missing ? [`${form.name(decided_by)} is missing in ${both(missing)}: it counts 0`] : [],
    ...failed ? [`No answer in ${both(failed)}: they count 0`] : [],
  ];
}

function describeLeftOut({ score, turns, reason, detail }: LeftOut, form: TextForm): string {
  return `Not compared: ${form.name(score)} at ${counted(turns, "turn")}, ` +
    LEFT_OUT_REASONS[reason] + (detail === null ? "" : ` (${form.name(detail)})`);
}

function describeMoved(
  title: string,
  { scenarios, form }: { scenarios: MovedScenario[]; form: TextForm },
): string {
  if (scenarios.length === 0) return "";
  const rows = scenarios.slice(0, SHOWN_NAMES).map((scenario) => [
    form.name(scenario.scenario_id),
    showScore(scenario.baseline),
    showScore(scenario.candidate),
    showDifference(scenario.difference),
  ]);
  return `\n${form.table([title, "before", "now", "difference"], rows)}`;
}

function describeUnpaired(
  title: string,
  { unpaired: { scenarios, turns, scores }, form }: { unpaired: Unpaired; form: TextForm },
): string[] {
  const places = turns.map((turn) => `${turn.scenario_id} / ${turn.interaction_id}`);
  const parts = Object.entries({ scenarios, turns: places, scores })
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => `${kind} ${listNames(names, form)}`);
  return parts.length > 0 ? [`${title}: ${parts.join("; ")}`] : [];
}

function listNames(names: string[], form: TextForm): string {
  const more = names.length - SHOWN_NAMES;
  return names.slice(0, SHOWN_NAMES).map(form.name).join(", ") +
    (more > 0 ? ` and ${more} more` : "");
}

/** Both runs in what the scores do not say: who answered, how often, how fast, at what cost. */
function describeSides(sides: ComparedRun[], form: TextForm): string {
  const row = (title: string, show: (side: ComparedRun) => string | undefined) => {
    const cells = sides.map(show);
    return cells.every((cell) => !cell) ? [] : [[title, ...cells.map((cell) => cell ?? "–")]];
  };
  const counts = (title: string, count: (side: ComparedRun) => number) =>
    sides.some((side) => count(side) > 0) ? row(title, (side) => `${count(side)}`) : [];
  return form.table(["run", "before", "now"], [
    ...row("id", ({ run_id }) => form.name(run_id)),
    ...row("model", ({ model_id }) => form.name(model_id)),
    ...row("pass rate", ({ pass_rate }) => pass_rate ? showScore(pass_rate.mean) : undefined),
    ...counts("failed calls", ({ progress }) => progress.failed),
    ...counts("replies cut off", ({ truncated }) => truncated),
    ...row(
      "median latency",
      ({ latency_ms }) => latency_ms ? `${Math.round(latency_ms.p50)} ms` : undefined,
    ),
    ...counts("output tokens", ({ usage }) => usage?.output_tokens ?? 0),
    ...row("cost", ({ cost }) => cost && showCost(cost)),
  ]);
}

/** The replies behind the scenarios that fell most. */
function describeFallen(fallen: FallenReply[], form: TextForm): string {
  if (fallen.length === 0) return "";
  return form.title("Replies that fell most", 2) +
    fallen.map((reply) =>
      form.item(
        describePlace(reply, form),
        describeReply(
          { result: reply.now, why: reply.why, before: reply.before.agent_reply },
          form,
        ),
      )
    ).join("");
}

function describePlace(
  { scenarioId, turn, attempt, score, before, now }: FallenReply,
  form: TextForm,
): string {
  const place = [
    form.name(scenarioId),
    ...(turn === undefined ? [] : [`turn ${turn}`]),
    ...(attempt === undefined ? [] : [`attempt ${attempt}`]),
  ];
  const [earlier, later] = [before.scores[score], now.scores[score]].map(showScore);
  return `${place.join(", ")}: ${form.name(score)} ${earlier} before, ${later} now`;
}

/** The test, and how its runs came to their end. */
function describeHead(comparison: Comparison, form: TextForm): string {
  const { group_id, status, progress, runs } = comparison;
  const tests = [...new Set(runs.map(({ test_name }) => test_name))].map(form.name).join(", ");
  const { dataset } = runs[0]!;
  return form.title(`Evaluation ${tests}: ${runs.length} models, ${status}`, 1) +
    form.lines([
      ...(group_id === undefined ? [] : [`Group ${form.name(group_id)}`]),
      ...(dataset === undefined ? [] : [`Dataset ${form.message(dataset)}`]),
      `Turns ${progress.done} of ${progress.total}` +
      (progress.failed > 0 ? `, ${progress.failed} failed` : ""),
      ...describeCosts(comparison),
      ...runs.filter((run) => run.status !== "completed").map((run) =>
        `${form.name(run.name)} is ${run.status}: ${run.progress.done} of ` +
        `${run.progress.total} turns` + (run.detail ? `, ${form.message(run.detail)}` : "")
      ),
      ...runs.flatMap((run) => describeFaults(run, form)),
    ]);
}

/** Why calls of a model failed, and why scores of it are missing. */
function describeFaults(model: ComparedRun, form: TextForm): string[] {
  const errors = model.errors.map((error) => describeError(error, form));
  const faults = [
    ...firstLines(errors, { most: SHOWN_FAULTS, noun: "error code" }),
    ...firstLines(describeMissing(model, form), { most: SHOWN_FAULTS, noun: "reason" }),
  ];
  return faults.map((fault) => `${form.name(model.name)}: ${fault}`);
}

function describeModels(models: ComparedRun[], form: TextForm): string {
  const hasCost = models.some(({ cost }) => cost);
  const isWhole = ({ status }: ComparedRun) => Number(status === "completed");
  const ordered = models.toSorted((a, b) => isWhole(b) - isWhole(a));
  const rows = ordered.map(({ name, status, scores, pass_rate, progress, latency_ms, cost }) => {
    const headline = scores?.[HEADLINE];
    return [
      form.name(name) + (status === "completed" ? "" : ` (${status})`),
      showScore(headline?.mean),
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
function describeScores(models: ComparedRun[], form: TextForm): string {
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

/** Two models, by the deciding score. */
interface DecidedPair extends ComparedPair {
  compared: ScoreComparison;
}

function describePairs({ pairs, best, decided_by, tests }: Comparison, form: TextForm): string {
  if (!pairs || pairs.length === 0) return "";
  const compared = pairs.flatMap((pair): DecidedPair[] => {
    const score = pair.scores[decided_by];
    return score ? [{ ...pair, compared: score }] : [];
  });
  const shown = compared.length <= SHOWN_PAIRS
    ? compared
    : decidedFirst(compared).slice(0, SHOWN_PAIRS);
  const rows = shown.map((pair) => [
    `${form.name(pair.candidate)} − ${form.name(pair.baseline)}`,
    showDifference(pair.compared.difference),
    showInterval(pair.compared.ci95),
    formatP(pair.compared.p ?? 1),
    pair.better === null ? pair.verdict.replace("_", " ") : form.name(pair.better),
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
      ...describeTruncated(shown, form),
    ]),
  ].join("");
}

function decidedFirst(pairs: DecidedPair[]): DecidedPair[] {
  const isOpen = ({ verdict }: DecidedPair) => Number(verdict === "inconclusive");
  return pairs.toSorted((a, b) => isOpen(a) - isOpen(b));
}

/** Why pairs have no verdict; those with the same reason together. */
function describeReasons(pairs: ComparedPair[], form: TextForm): string[] {
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

/** Pairs of which one model has more replies that end at the token limit. */
function describeTruncated(pairs: ComparedPair[], form: TextForm): string[] {
  const lines = pairs.flatMap(({ baseline, candidate, notes }) =>
    notes.filter(({ code }) => code === "truncated").map(({ detail }) =>
      `${form.name(candidate)} − ${form.name(baseline)}: ${detail}`
    )
  );
  return firstLines(lines, { most: SHOWN_REASONS, noun: "note" });
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
