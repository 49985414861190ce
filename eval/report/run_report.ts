import { counted } from "../../shared/service/text.ts";
import { GIVEN_REPLIES, withoutQuery } from "../ask/endpoint_address.ts";
import { HEADLINE } from "../figures/passing.ts";
import type { RunSummary } from "../figures/run_summary.ts";
import { OVERALL_PARTS } from "../score/score.ts";
import { referencesOf } from "../score/references.ts";
import type { GradeAgreement } from "../test/grades.ts";
import type { InteractionResult } from "../test/interaction_result.ts";
import type { RunLeaks } from "../test/leaks.ts";
import { firstLines, joined, kept, type Line, message, name, say, scoreName } from "./sections.ts";
import { type Section, type Table, tableOf } from "./sections.ts";
import { checkTable, spreadLines } from "./tables.ts";
import type { ExportSource } from "./format.ts";
import { type LowTurn, type RunNumbers } from "./text/run_numbers.ts";
import { showCost, showDifference, showInterval, showScore } from "./text/text_form.ts";

/** How many scenarios are shown: a pull request's comment holds 65,536 characters. */
const SHOWN_SCENARIOS = 10;
const SHOWN_REASONS = 10;
const SHOWN_CHECKS = 20;
/** Of one reply. */
const SHOWN_CAUSES = 5;

/** A run: what it was, whether it passed, the averages, and where to look first. */
export function runReport(source: ExportSource, numbers: RunNumbers): Section[] {
  const { run, agreement, leaks } = source;
  return kept<Section>([
    {
      isHead: true,
      title: say`Evaluation ${name(run.testName)}: ${outcomeOf(numbers, run)}`,
      lines: headLines(source, numbers),
    },
    { title: ["Scores"], table: scoreTable(numbers), lines: scoreNotes(numbers) },
    checkSection(numbers),
    lowestScenarios(numbers),
    numbers.lowest.length > 0 && {
      title: ["Lowest replies"],
      items: numbers.lowest.map((low) => ({ line: lowLine(low, numbers), below: replyLines(low) })),
    },
    agreement && agreementSection(agreement),
    leaks && leaksSection(leaks),
  ]);
}

/** How many scenarios pass; of attempts that only sometimes do, too. */
function outcomeOf(
  { standings: { passed, sometimes, ...others }, turns, failed, pass_rate }: RunNumbers,
  { status }: ExportSource["run"],
): string {
  if (status !== "completed") return status;
  if (turns > 0 && failed === turns) return "no turn was answered";
  if (!pass_rate) return "not scored";
  const all = passed + sometimes + others.failed + others.unscored;
  return `${passed} of ${counted(all, "scenario")} pass${passed === 1 || all === 1 ? "es" : ""}` +
    (sometimes > 0 ? `, ${sometimes} sometimes` : "");
}

function headLines({ run }: ExportSource, numbers: RunNumbers): Line[] {
  const { usage: { input_tokens, output_tokens }, truncated, barred, graded, labels } = numbers;
  const { differs_in, agreements = {}, score_methods } = numbers;
  const { passed, below, failed, missing, unscored } = numbers;
  const counts = kept([
    `${passed} ${passed === 1 ? "passes" : "pass"}`,
    `${below} ${below === 1 ? "does" : "do"} not`,
    failed > 0 && counted(failed, "failed call"),
    missing > 0 && `${missing} with a missing score`,
    unscored > 0 && `${unscored} without a score`,
  ]).join(", ");
  const list = (counts: Record<string, number>) =>
    Object.entries(counts).map(([name, turns]) => `${name} ${turns}`).join(", ");
  return kept([
    run.endpoint
      ? say`Model ${name(run.modelId)} at ${name(withoutQuery(run.endpoint))}`
      : say`Model ${name(run.modelId)}, ${GIVEN_REPLIES}`,
    say`Run ${name(run.id)}, ${run.status}`,
    run.request.dataset !== undefined && say`Dataset ${message(run.request.dataset)}`,
    say`Turns ${numbers.turns} of ${run.totalTurns}: ${counts}`,
    ...numbers.errors.map(errorLine),
    // An endpoint may not report them.
    input_tokens + output_tokens > 0 && say`Tokens ${input_tokens} input, ${output_tokens} output`,
    ...costLines(numbers),
    ...firstLines(missingLines(numbers), { most: SHOWN_REASONS, noun: "reason" }),
    // Means of such scores mix several methods.
    ...Object.entries(score_methods).filter(([, methods]) => Object.keys(methods).length > 1)
      .map(([score, methods]) => {
        const counts = Object.entries(methods).map(([method, turns]) =>
          say`${name(method)} (${counted(turns, "turn")})`
        );
        return say`${scoreName(score)} was computed by ${joined(counts, " and ")}`;
      }),
    Object.keys(agreements).length > 0 && say`Agreement with the references: ${list(agreements)}`,
    Object.keys(differs_in).length > 0 &&
    say`Turns that differ from their reference in ${list(differs_in)}`,
    ...Object.entries(labels).map(([key, { counts, of }]) =>
      say`Label ${name(key)} counts at ${counts} of ${counted(of, "turn")}${
        counts < of ? ", not where the reference itself is misread" : ""
      }`
    ),
    truncated > 0 && say`Replies cut off at the token limit: ${truncated}`,
    barred.byTools > 0 && say`Turns whose tool calls are not those expected: ${barred.byTools}`,
    graded.turns > 0 &&
    say`Graded by people: ${counted(graded.turns, "turn")}, ${
      counted(graded.grades, "grade")
    }, mean ${showScore(graded.sum / graded.grades)}`,
  ]);
}

/** What a run or a group cost, as far as that is known. */
export function costLines(
  { cost, judge_cost }: Pick<RunSummary, "cost" | "judge_cost">,
): Line[] {
  return kept([
    cost && say`Cost ${showCost(cost)}`,
    judge_cost && say`Cost of the judge ${showCost(judge_cost)}`,
  ]);
}

/** Why calls of one kind failed. */
export function errorLine({ code, turns, detail }: RunSummary["errors"][number]): Line {
  return say`Failed ${turns} × ${name(code)}: ${message(detail)}`;
}

/** Why scores are missing. The headline's own line is shown if it does not just repeat its parts. */
export function missingLines({ missing_scores }: Pick<RunSummary, "missing_scores">): Line[] {
  return missing_scores
    .filter(({ score, reason }) => score !== HEADLINE || !reason.startsWith("without "))
    .map(({ score, reason, turns }) =>
      say`Missing ${turns} × ${scoreName(score)}: ${message(reason)}`
    );
}

/** Each mean with the number of its turns. */
function scoreTable({ statistics }: RunNumbers): Table {
  const others = Object.keys(statistics)
    .filter((score) => score !== HEADLINE && statistics[score]!.mean !== null);
  return tableOf(
    ["score", "mean", "turns", "missing", "failed"],
    [HEADLINE, ...others].map((score) => {
      const { mean = null, turns = 0, missing = 0, failed = 0 } = statistics[score] ?? {};
      return { score: scoreName(score), mean, turns, missing, failed };
    }),
  );
}

function scoreNotes(numbers: RunNumbers): Line[] {
  const { ci95, ci95_reason, n } = numbers.statistics[HEADLINE] ?? {};
  return kept<Line>([
    ci95 &&
    say`95 % interval of ${HEADLINE}: ${showInterval(ci95, showScore)}, over ${n!} scenarios`,
    !ci95 && ci95_reason !== undefined &&
    say`No interval of ${HEADLINE}: ${ci95_reason}`,
    ...spreadLines(numbers),
    ...numbers.notes.filter(({ code }) => code === "identical_questions")
      .map(({ detail }) => [detail]),
  ]);
}

/** The checks that were not met everywhere, those that failed most first. */
function checkSection({ check_counts = [], failed }: RunNumbers): Section | false {
  if (check_counts.length === 0) return false;
  const wanting = check_counts.filter(({ failed, missing }) => failed + missing > 0);
  if (wanting.length === 0) {
    const all = check_counts.length === 1
      ? "The check was"
      : `All ${check_counts.length} checks were`;
    return { lines: [say`${all} met${failed === 0 ? "" : " by every reply that came"}`] };
  }
  const more = wanting.length - SHOWN_CHECKS;
  return {
    title: ["Failed checks"],
    table: checkTable(wanting.slice(0, SHOWN_CHECKS)),
    lines: kept([more > 0 && say`and ${counted(more, "more check")} not met everywhere`]),
  };
}

function lowestScenarios({ scenarios }: RunNumbers): Section | false {
  const wanting = scenarios
    .filter(({ below, failed, missing }) => below + failed + missing > 0)
    .sort((a, b) => (a.averages[HEADLINE] ?? 0) - (b.averages[HEADLINE] ?? 0));
  const more = wanting.length - SHOWN_SCENARIOS;
  return wanting.length > 0 && {
    title: ["Lowest scenarios"],
    table: tableOf(
      ["scenario", "overall", "below", "failed_calls", "missing_scores"],
      wanting.slice(0, SHOWN_SCENARIOS).map((scenario) => ({
        scenario: name(scenario.label),
        overall: scenario.averages[HEADLINE],
        below: `${scenario.below} of ${scenario.turns}`,
        failed_calls: scenario.failed,
        missing_scores: scenario.missing,
      })),
    ),
    lines: kept([more > 0 && say`and ${more} more with turns that did not pass`]),
  };
}

function lowLine(
  { scenario, turn, attempt, result: { scores } }: LowTurn,
  { scenarios }: RunNumbers,
): Line {
  const { label, attempts, turns } = scenarios[scenario]!;
  const parts = OVERALL_PARTS.filter((part) => typeof scores[part] === "number")
    .map((part) => `${part} ${showScore(scores[part])}`).join(", ");
  const place = kept([
    turns > attempts && `, turn ${turn + 1}`,
    attempts > 1 && `, attempt ${attempt + 1}`,
  ]).join("");
  return say`${name(label)}${place}: ${HEADLINE} ${showScore(scores[HEADLINE])}${
    parts && ` (${parts})`
  }`;
}

/** What was asked, expected and answered, and why it does not pass. `before` is an earlier reply. */
export function replyLines(
  { result, why, before }: { result: InteractionResult; why: string[]; before?: string },
): Line[] {
  const references = referencesOf(result).join(" | ");
  return kept([
    say`asked: ${message(result.user_message)}`,
    references !== "" && say`expected: ${message(references)}`,
    before !== undefined && say`before: ${message(before)}`,
    say`${before === undefined ? "answered" : "now"}: ${message(result.agent_reply)}`,
    ...firstLines(why.map((cause) => say`why: ${message(cause)}`), {
      most: SHOWN_CAUSES,
      noun: "cause",
    }),
  ]);
}

/** How far people agree with each other and with the judge. */
export function agreementSection(
  { grades, graded_turns, authors, people, judge }: GradeAgreement,
): Section {
  const title = ["Agreement"];
  if (grades === 0) return { title, lines: [["Nobody has graded a turn of this run."]] };
  const by = authors.length === 1 ? "1 person" : `${authors.length} people`;
  return {
    title,
    lines: [
      say`${counted(grades, "grade")} of ${counted(graded_turns, "turn")} by ${by}`,
      ...people.turns > 0
        ? [
          say`People with each other, over ${counted(people.turns, "turn")}: Krippendorff's alpha ${
            showScore(people.alpha)
          }`,
        ]
        : [],
      ...judge ? judgeLines(judge) : [],
    ],
  };
}

function judgeLines(judge: NonNullable<GradeAgreement["judge"]>): Line[] {
  const { turns, alpha, mean_difference: { mean, ci95 }, threshold: { best, present } } = judge;
  const score = name(judge.score);
  const percent = (share: number) => `${(100 * share).toFixed(0)} %`;
  const better = best.agreement > present.agreement
    ? `in ${percent(best.agreement)} at ${best.threshold}`
    : "no threshold does better";
  return [
    say`${score} with people, over ${counted(turns, "turn")}: Krippendorff's alpha ${
      showScore(alpha)
    }`,
    say`${score} is ${showDifference(mean)} from people${
      ci95 ? ` (95 %: ${showInterval(ci95)})` : ""
    }`,
    say`${score} passes and fails as people do in ${
      percent(present.agreement)
    } of turns at ${present.threshold}, and ${better}`,
  ];
}

/** The score over scenarios that training files have, and over the others. */
function leaksSection({ checks, clean, leaked }: RunLeaks): Section {
  return {
    title: ["Leaks"],
    lines: [
      say`Over ${counted(clean.scenarios, "clean scenario")}: overall ${showScore(clean.mean)}`,
      say`Over ${counted(leaked.scenarios, "leaked scenario")}: overall ${showScore(leaked.mean)}`,
      ...checks.map(({ file, digest, rows, checked_at, word_for_word, near }) =>
        say`Checked against ${name(file || digest.slice(0, 8))} (${counted(rows, "row")}) on ${
          checked_at.slice(0, 10)
        }: ${word_for_word} word for word, ${near} near`
      ),
    ],
  };
}
