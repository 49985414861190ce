import { counted } from "../../../shared/counted.ts";
import { OVERALL_PARTS } from "../../assess/scores/overall.ts";
import { formatP } from "../../../shared/rounding.ts";
import type {
  Comparison,
  MovedScenario,
  ScoreComparison,
  Unpaired,
  Verdict,
} from "../../compare/comparison.ts";
import type { StoredComparison } from "../../compare/compare_stored.ts";
import type { LeftOut } from "../../compare/left_out.ts";
import { NO_DIFFERENCE, regressedScores } from "../../compare/verdict.ts";
import { HEADLINE } from "../../results/passing.ts";
import type { ComparedSides } from "./compared_sides.ts";
import { describeFallen, describeSides } from "./sides_text.ts";
import { showDifference, showScore, type TextForm } from "./text_form.ts";

/** Which runs a stored comparison is of. */
type ComparedRuns = Pick<StoredComparison, "baseline" | "candidate">;

const SHOWN_NAMES = 5;
/** Names in a title. */
const IN_TITLE = 2;
/** Beyond this the number says only that the difference is next to nothing. */
const MOST_PLANNED = 10_000;

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
  { baseline, result, sides }: {
    baseline: string;
    result: Comparison & Partial<ComparedRuns>;
    sides?: ComparedSides | undefined;
  },
  form: TextForm,
): string {
  const { scores, moved, changed } = result;
  const notes = [
    ...describeReasons(scores, form),
    ...describePlans(scores, form),
    ...describeFailed(scores, form),
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
    ...describeReduced(result, form),
    ...describeUnpaired("Only in the baseline", { unpaired: result.only_in_baseline, form }),
    ...describeUnpaired("Only in the candidate", { unpaired: result.only_in_candidate, form }),
    ...describeHistory(result),
    ...describeDatasets(result, form),
    ...changed.length > 0
      ? [`Paired by id, but not the same in both runs: ${listNames(changed, form)}`]
      : [],
  ];
  return [
    form.title(`Compared with ${form.name(baseline)}: ${describeVerdict(result, form)}`, 2),
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

/**
 * The verdict, in which scores it is if `overall` has another one, and which scores are worse only
 * if failed calls count 0: a build fails for them.
 */
function describeVerdict({ verdict, scores }: Comparison, form: TextForm): string {
  const named = (wanted: Verdict) =>
    Object.keys(scores).filter((name) => scores[name]!.verdict === wanted);
  const headline = scores[HEADLINE]?.verdict ?? verdict;
  const failing = regressedScores(scores).filter((name) => scores[name]!.verdict !== "regressed");
  return [
    headline === verdict
      ? verdict
      : `${verdict} in ${listNames(named(verdict), form, IN_TITLE)}; ${HEADLINE} ${headline}`,
    ...failing.length > 0
      ? [`regressed in ${listNames(failing, form, IN_TITLE)} if failed calls count 0`]
      : [],
  ].join("; ");
}

/** Why scores that differ have no verdict; those with the same reason together. */
function describeReasons(scores: Comparison["scores"], form: TextForm): string[] {
  const all = Object.values(scores);
  if (all.length > 0 && all.every(({ reason }) => reason === NO_DIFFERENCE)) {
    return ["No scenario differs in any score"];
  }
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

/** How many scenarios would show the present differences; nothing of scores with a verdict. */
function describePlans(scores: Comparison["scores"], form: TextForm): string[] {
  const planned = Object.entries(scores).filter(([, score]) => scenariosPlanned(score));
  return [...Map.groupBy(planned, ([, { scenarios }]) => scenarios)].map(([scenarios, found]) => {
    const plans = found.slice(0, SHOWN_NAMES).map(([name, score]) =>
      `${form.name(name)} ${scenariosPlanned(score)}`
    );
    const more = found.length - plans.length;
    const { power } = found[0]![1].planning!;
    return `Scenarios of this kind that would show the present difference with ${100 * power} % ` +
      `power: ${plans.join(", ")}${more > 0 ? ` and ${more} more scores` : ""}; ` +
      `these are ${scenarios}`;
  });
}

/** `about 12`, if more scenarios would show the present difference. */
export function scenariosPlanned({ planning, scenarios }: ScoreComparison): string | undefined {
  const needed = planning?.scenarios ?? 0;
  if (needed <= scenarios) return undefined;
  return needed > MOST_PLANNED ? `over ${MOST_PLANNED}` : `about ${needed}`;
}

/** How much depends on failed calls, by the first score in which they count: `overall` if it can. */
function describeFailed(scores: Comparison["scores"], form: TextForm): string[] {
  for (const [name, { failed, difference_error_bounds: bounds }] of Object.entries(scores)) {
    if (!failed || !bounds) continue;
    return [
      `${counted(failed.baseline, "call")} of the baseline and ${failed.candidate} of the ` +
      `candidate failed; had they been answered, the difference of ${form.name(name)} would lie ` +
      `between ${bounds.map(showDifference).join(" and ")}`,
    ];
  }
  return [];
}

function describeLeftOut({ score, turns, reason, detail }: LeftOut, form: TextForm): string {
  return `Not compared: ${form.name(score)} at ${counted(turns, "turn")}, ` +
    LEFT_OUT_REASONS[reason] + (detail === null ? "" : ` (${form.name(detail)})`);
}

/** Means of `overall` that are not those of the runs would look like a mistake. */
function describeReduced({ scores, left_out }: Comparison, form: TextForm): string[] {
  const isReduced = HEADLINE in scores &&
    left_out.some(({ score }) => OVERALL_PARTS.some((part) => part === score));
  if (!isReduced) return [];
  return [
    `${
      form.name(HEADLINE)
    } is computed again without what is not compared; the runs by themselves ` +
    "have other means",
  ];
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

function listNames(names: string[], form: TextForm, most = SHOWN_NAMES): string {
  const more = names.length - most;
  return names.slice(0, most).map(form.name).join(", ") +
    (more > 0 ? ` and ${more} more` : "");
}
