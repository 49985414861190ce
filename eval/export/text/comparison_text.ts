import { counted } from "../../../shared/text.ts";
import { formatP } from "../../schemas/rounding.ts";
import type {
  Comparison,
  LeftOut,
  MovedScenario,
  ScoreComparison,
  Unpaired,
} from "../../compare/comparison.ts";
import type { StoredComparison } from "../../compare/compare_stored.ts";
import type { Preference } from "../../compare/judge_preference.ts";
import type { ComparedSide, ComparedSides, FallenReply } from "./compared_sides.ts";
import {
  showCost,
  showDifference,
  showInterval,
  showMean,
  showScore,
  type TextForm,
} from "./text_form.ts";
import { describeReply } from "./reply_text.ts";

/** Which runs a stored comparison is of. */
type ComparedRuns = Pick<StoredComparison, "baseline" | "candidate">;

const SHOWN_NAMES = 5;

/** In words why something was not compared. */
const LEFT_OUT_REASONS: Record<LeftOut["reason"], string> = {
  missing_in_baseline: "it is missing in the baseline",
  missing_in_candidate: "it is missing in the candidate",
  missing_in_both: "it is missing in both runs",
  not_in_baseline: "the baseline does not have it",
  not_in_candidate: "the candidate does not have it",
  other_method: "the runs computed it by different methods",
  other_expectation: "the runs do not expect the same there",
  no_common_part: "none of its parts can be compared",
};

/** A comparison for people: the verdict, what moved, and what could not be compared. */
export function describeComparison(
  { baseline, result, sides, newFailures = [], preference }: {
    baseline: string;
    result: Comparison & Partial<ComparedRuns>;
    newFailures?: string[] | undefined;
    preference?: Preference | undefined;
    sides?: ComparedSides | undefined;
  },
  form: TextForm,
): string {
  const { scores, moved, changed } = result;
  const notes = [
    ...preference ? [describePreference(preference, form)] : [],
    ...newFailures.length > 0
      ? [
        `New failures, which passed in every attempt before and in none now: ${
          listNames(newFailures, form)
        }`,
      ]
      : [],
    ...result.reason === null ? [] : [`${form.name(result.decided_by)}: ${result.reason}`],
    ...describeUnknown(result, form),
    ...result.notes.map(({ detail }) => detail),
    ...result.left_out.map((found) => describeLeftOut(found, form)),
    ...describeUnpaired("Only in the baseline", { unpaired: result.only_in_baseline, form }),
    ...describeUnpaired("Only in the candidate", { unpaired: result.only_in_candidate, form }),
    ...describeHistory(result),
    ...describeDatasets(result, form),
    ...changed.length > 0
      ? [`Paired by id, but not the same in both runs: ${listNames(changed, form)}`]
      : [],
  ];
  return [
    form.title(`Compared with ${form.name(baseline)}: ${describeVerdict(result)}`, 2),
    sides ? `${describeSides(sides, form)}\n` : "",
    Object.keys(scores).length === 0
      ? form.lines(["The runs have no scenario and score in common."])
      : describeScores(result, form),
    ...moved
      ? [
        describeMoved("improved most", { scenarios: moved.up, form }),
        describeMoved("fell most", { scenarios: moved.down, form }),
      ]
      : [],
    notes.length > 0 ? `\n${form.lines(notes)}` : "",
    sides ? describeFallen(sides, form) : "",
  ].join("");
}

/** What the judge says, beside the verdict of the score. */
function describePreference(preference: Preference, form: TextForm): string {
  const { judge, verdict, reason, missing, ...counts } = preference;
  const unjudged = Object.entries(missing).map(([why, turns]) => `, ${turns} not judged (${why})`);
  return `The judge (${form.name(judge)}) prefers the candidate in ` +
    `${counted(counts.candidate_better, "turn")} and the baseline in ${counts.baseline_better}; ` +
    `${counts.ties} ties, ${counts.contradictory} that change with the order${
      unjudged.join("")
    }: ` +
    verdict + (reason === null ? "" : ` (${reason})`);
}

/** The verdict; a build also fails if it is worse with unanswered calls at 0. */
function describeVerdict(
  { verdict, verdict_as_counted, decided_by, scores, min_difference }: Comparison,
): string {
  const score = scores[decided_by];
  const interval = score?.ci95 ? `, 95 % ${showInterval(score.ci95)}` : "";
  const size = score ? ` (${differenceText(score)}${interval})` : "";
  const limit = min_difference === undefined ? "" : `, where less than ${min_difference} is equal`;
  return `${decided_by} ${verdict.replace("_", " ")}${size}${limit}` +
    (verdict_as_counted ? `; ${verdict_as_counted} if unanswered calls count 0` : "");
}

function describeHistory({ other_history: found }: Comparison): string[] {
  if (!found) return [];
  return [
    `Not compared: ${counted(found.turns, "turn")} after the first; one ` +
    "run was asked after its own replies, the other one after the references",
  ];
}

/** If both runs name a dataset, and not the same version. */
function describeDatasets({ baseline, candidate }: Partial<ComparedRuns>, form: TextForm) {
  const before = baseline?.dataset;
  const now = candidate?.dataset;
  if (before === undefined || now === undefined || before === now) return [];
  return [`The datasets differ: ${form.name(before)} before, ${form.name(now)} now`];
}

/** The deciding score with its p-value; the others only describe what moved with it. */
function describeScores({ scores, decided_by }: Comparison, form: TextForm): string {
  const rows = Object.entries(scores).map(([name, score]) => [
    form.name(name),
    showMean({ mean: score.baseline, bounds: score.bounds?.baseline ?? null }),
    showMean({ mean: score.candidate, bounds: score.bounds?.candidate ?? null }),
    differenceText(score),
    showInterval(score.ci95),
    name === decided_by ? formatP(score.p ?? 1) : "",
  ]);
  return form.table(["score", "before", "now", "difference", "95 %", "p"], rows);
}

/** A difference, or its bounds if values are missing. */
export function differenceText({ difference, bounds }: ScoreComparison): string {
  if (bounds) return bounds.difference.map(showDifference).join(" to ");
  return difference === null ? "–" : showDifference(difference);
}

/** What depends on missing values and on unanswered calls, by the deciding score. */
function describeUnknown({ scores, decided_by }: Comparison, form: TextForm): string[] {
  const { missing, failed, error_bounds } = scores[decided_by] ?? {};
  return [
    ...missing
      ? [
        `${form.name(decided_by)} is missing in ${counted(missing.baseline, "turn")} of the ` +
        `baseline and ${missing.candidate} of the candidate`,
      ]
      : [],
    ...failed && error_bounds
      ? [
        `${counted(failed.baseline, "call")} of the baseline and ${failed.candidate} of the ` +
        `candidate were not answered; had they been, the difference of ${form.name(decided_by)} ` +
        `would lie between ${error_bounds.map(showDifference).join(" and ")}`,
      ]
      : [],
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
function describeSides({ baseline, candidate }: ComparedSides, form: TextForm): string {
  const sides = [baseline, candidate];
  const row = (title: string, show: (side: ComparedSide) => string | undefined) => {
    const cells = sides.map(show);
    return cells.every((cell) => !cell) ? [] : [[title, ...cells.map((cell) => cell ?? "–")]];
  };
  const counts = (title: string, count: (side: ComparedSide) => number) =>
    sides.some((side) => count(side) > 0) ? row(title, (side) => `${count(side)}`) : [];
  return form.table(["run", "before", "now"], [
    ...row("id", ({ runId }) => form.name(runId)),
    ...row("model", ({ modelId }) => form.name(modelId)),
    ...row("pass rate", ({ pass_rate }) => pass_rate ? showScore(pass_rate.mean) : undefined),
    ...counts("failed calls", ({ outcomes }) => outcomes.failed),
    ...counts("replies cut off", ({ truncated }) => truncated),
    ...row(
      "median latency",
      ({ latency_ms }) => latency_ms ? `${Math.round(latency_ms.p50)} ms` : undefined,
    ),
    ...counts("output tokens", ({ usage }) => usage.output_tokens),
    ...row("cost", ({ cost }) => cost && showCost(cost)),
  ]);
}

/** The replies behind the scenarios that fell most. */
function describeFallen({ fallen }: ComparedSides, form: TextForm): string {
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
