import { counted } from "../../shared/counted.ts";
import { formatP } from "../../shared/rounding.ts";
import type {
  Comparison,
  MovedScenario,
  ScoreComparison,
  Unpaired,
} from "../compare/comparison.ts";
import type { StoredComparison } from "../compare/compare_stored.ts";
import type { LeftOut } from "../compare/left_out.ts";
import { showDifference, showScore, type TextForm } from "./text_form.ts";

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

/** A comparison for people: a verdict per score, what moved, and what could not be compared. */
export function describeComparison(
  { baseline, result }: { baseline: string; result: Comparison & Partial<ComparedRuns> },
  form: TextForm,
): string {
  const { verdict, scores, moved, changed } = result;
  const notes = [
    ...describeReasons(scores, form),
    ...Object.entries(scores).flatMap(([name, score]) => describePlanning(name, score, form)),
    ...Object.entries(scores).flatMap(([name, score]) => describeFailed(name, score, form)),
    ...Object.entries(scores).flatMap(([name, { missing, difference_bounds: bounds }]) =>
      bounds
        ? [
          `${form.name(name)}: missing in ${counted(missing.baseline, "turn")} of the baseline ` +
          `and ${missing.candidate} of the candidate; with them the difference lies between ` +
          bounds.map(showDifference).join(" and "),
        ]
        : []
    ),
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
    form.title(`Compared with ${form.name(baseline)}: ${verdict}`, 2),
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
  ].join("");
}

/** Why scores that differ have no verdict; those with the same reason together. */
function describeReasons(scores: Comparison["scores"], form: TextForm): string[] {
  const undecided = Object.entries(scores)
    .filter(([, { reason, difference }]) => reason !== null && difference !== 0);
  return [...Map.groupBy(undecided, ([, { reason }]) => reason)].map(([reason, found]) =>
    `${found.map(([name]) => form.name(name)).join(", ")}: ${reason}`
  );
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

function describeScores({ scores }: Comparison, form: TextForm): string {
  const rows = Object.entries(scores).map(([name, score]) => [
    form.name(name),
    showScore(score.baseline),
    showScore(score.candidate),
    showDifference(score.difference),
    score.ci95 ? score.ci95.map(showDifference).join(" … ") : "–",
    formatP(score.p_adjusted),
    score.verdict,
  ]);
  return form.table(
    ["score", "before", "now", "difference", "95 %", "adjusted p", "verdict"],
    rows,
  );
}

/** How many scenarios would show the present difference; nothing if there is a verdict. */
export function describePlanning(
  name: string,
  { planning, difference, scenarios }: ScoreComparison,
  form: TextForm,
): string[] {
  if (!planning?.scenarios || planning.scenarios <= scenarios) return [];
  return [
    `${form.name(name)}: about ${planning.scenarios} scenarios of this kind would show a ` +
    `difference of ${showDifference(difference)} with ${100 * planning.power} % power; these ` +
    `are ${scenarios}`,
  ];
}

function describeFailed(
  name: string,
  { failed, difference_error_bounds: bounds, verdict, verdict_as_counted }: ScoreComparison,
  form: TextForm,
): string[] {
  if (!failed || !bounds) return [];
  return [
    `${form.name(name)}: ${counted(failed.baseline, "call")} of the baseline and ` +
    `${failed.candidate} of the candidate failed; had they been answered, the difference would ` +
    `lie between ` +
    bounds.map(showDifference).join(" and ") +
    (verdict === verdict_as_counted
      ? ""
      : `; if they count 0, the verdict is ${verdict_as_counted}`),
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
