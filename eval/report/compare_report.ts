import { counted } from "../../shared/service/text.ts";
import type { ComparedRun, Comparison } from "../figures/compare_stored.ts";
import type { ComparedPair, ScoreComparison } from "../figures/comparison.ts";
import { HEADLINE } from "../figures/passing.ts";
import type { Preference } from "../figures/judge_preference.ts";
import {
  type Column,
  FIGURES,
  firstLines,
  joined,
  kept,
  type Line,
  message,
  name,
  say,
  scoreName,
  type Section,
  type Table,
  tableOf,
} from "./sections.ts";
import { costLines, errorLine, missingLines, replyLines } from "./run_report.ts";
import { listed, notComparedLines, SHOWN_NAMES } from "./tables.ts";
import type { FallenReply } from "./text/compared_replies.ts";
import { showCost, showDifference, showInterval, showScore } from "./text/text_form.ts";

/** Errors of one model, and reasons: a comment has room for 65,536 characters. */
const SHOWN_FAULTS = 3;
/** Pairs in the table, and per reason: their number grows with the square of the models. */
const SHOWN_PAIRS = 20;
const SHOWN_OF_REASON = 5;
const SHOWN_REASONS = 5;

/** What a report says beside what the comparison itself holds. */
interface Remarks {
  newFailures?: string[] | undefined;
  fallen?: FallenReply[] | undefined;
}

/** A comparison: of two runs what changed, of several models their tables and pairs. */
export function compareReport(comparison: Comparison, remarks: Remarks = {}): Section[] {
  const { runs, group_id, pairs } = comparison;
  if (runs.length === 2 && group_id === undefined) return pairReport(comparison, remarks);
  return kept<Section>([
    headSection(comparison),
    { title: ["Models"], table: modelTable(runs) },
    { title: ["Scores"], table: modelScoreTable(runs) },
    Boolean(pairs?.length) && {
      title: say`Which is better by ${name(comparison.decided_by)}`,
      table: pairTable(comparison, SHOWN_PAIRS),
      lines: pairLines(comparison),
    },
  ]);
}

/** Two runs: the verdict, what moved, and what could not be compared. */
export function pairReport(
  comparison: Comparison,
  { newFailures = [], fallen = [] }: Remarks = {},
): Section[] {
  const { decided_by, runs } = comparison;
  const pair = comparison.pairs![0]!;
  const { reason, scores, moved, changed, notes } = pair;
  const lines = kept([
    newFailures.length > 0 &&
    say`New failures, which passed in every attempt before and in none now: ${listed(newFailures)}`,
    reason !== null && say`${scoreName(decided_by)}: ${reason}`,
    ...unknownLines(scores[decided_by], decided_by),
    ...notes.map(({ detail }) => [detail]),
    ...notComparedLines(pair),
    datasetLine(runs),
    changed.length > 0 && say`Paired by id, but not the same in both runs: ${listed(changed)}`,
  ]);
  return kept<Section>([
    {
      title: say`Compared with ${name(runs[0]!.run_id)}: ${verdictText(comparison)}`,
      table: sideTable(runs),
    },
    Object.keys(scores).length === 0
      ? { lines: [["The runs have no scenario and score in common."]] }
      : { table: differenceTable(comparison) },
    ...(["up", "down"] as const).map((direction) =>
      Boolean(moved?.[direction].length) && {
        table: tableOf(
          [
            { ...FIGURES.scenario, key: "id", label: MOVED[direction] },
            "baseline",
            "candidate",
            "difference",
          ],
          moved![direction].slice(0, SHOWN_NAMES).map(({ scenario_id, ...scenario }) => ({
            id: name(scenario_id),
            ...scenario,
          })),
        ),
      }
    ),
    lines.length > 0 && { lines },
    fallen.length > 0 && {
      title: ["Replies that fell most"],
      items: fallen.map((reply) => ({
        line: placeLine(reply),
        below: replyLines({
          result: reply.now,
          why: reply.why,
          before: reply.before.agent_reply,
        }),
      })),
    },
  ]);
}

const MOVED = { up: "improved most", down: "fell most" };

/** What the judge says, beside the verdict of the score. */
export function preferenceLine(preference: Preference): Line {
  const { judge, verdict, reason, missing, ...counts } = preference;
  const unjudged = Object.entries(missing).map(([why, turns]) => `, ${turns} not judged (${why})`);
  return say`The judge (${name(judge)}) prefers the candidate in ${
    counted(counts.candidate_better, "turn")
  } and the baseline in ${counts.baseline_better}; ${counts.ties} ties, ${counts.contradictory} that change with the order${
    unjudged.join("")
  }: ${verdict}${reason === null ? "" : ` (${reason})`}`;
}

function verdictText({ pairs, decided_by, min_difference }: Comparison): string {
  const { verdict, scores } = pairs![0]!;
  const score = scores[decided_by];
  const interval = score?.ci95 ? `, 95 % ${showInterval(score.ci95)}` : "";
  return `${decided_by} ${verdict.replace("_", " ")}` +
    (score ? ` (${showDifference(score.difference)}${interval})` : "") +
    (min_difference === undefined ? "" : `, where less than ${min_difference} is equal`);
}

/** If both runs name a dataset, and not the same version. */
function datasetLine([baseline, candidate]: ComparedRun[]): Line | false {
  const before = baseline?.dataset;
  const now = candidate?.dataset;
  if (before === undefined || now === undefined || before === now) return false;
  return say`The datasets differ: ${name(before)} before, ${name(now)} now`;
}

/** The deciding score with its p-value; the others only describe what moved with it. */
function differenceTable({ pairs, decided_by }: Comparison): Table {
  return tableOf(
    ["score", "baseline", "candidate", "difference", "difference_interval", "p"],
    Object.entries(pairs![0]!.scores).map(([score, found]) => ({
      score: scoreName(score),
      baseline: found.baseline,
      candidate: found.candidate,
      difference: found.difference,
      difference_interval: found,
      p: score === decided_by ? found.p ?? 1 : undefined,
    })),
  );
}

/** Turns that count 0 in the deciding score. */
function unknownLines(
  { missing, failed }: Partial<ScoreComparison> = {},
  decidedBy: string,
): Line[] {
  const both = (count: { baseline: number; candidate: number }) =>
    `${counted(count.baseline, "turn")} of the baseline and ${count.candidate} of the candidate`;
  return kept([
    missing && say`${scoreName(decidedBy)} is missing in ${both(missing)}: it counts 0`,
    failed && say`No answer in ${both(failed)}: they count 0`,
  ]);
}

/** Both runs in what the scores do not say: who answered, how often, how fast, at what cost. */
function sideTable(sides: ComparedRun[]): Table {
  const row = (run: string, show: (side: ComparedRun) => string | Line | undefined) => {
    const [before, now] = sides.map(show);
    return Boolean(before ?? now) && { run, before: before ?? "–", now: now ?? "–" };
  };
  const counts = (title: string, count: (side: ComparedRun) => number) =>
    sides.some((side) => count(side) > 0) && row(title, (side) => `${count(side)}`);
  const column = (key: string): Column => ({ key, label: key, kind: "words" });
  return tableOf(
    ["run", "before", "now"].map(column),
    kept([
      row("id", ({ run_id }) => name(run_id)),
      row(FIGURES.model.label, ({ model_id }) => name(model_id)),
      row(
        FIGURES.pass_rate.label,
        ({ pass_rate }) => pass_rate ? showScore(pass_rate.mean) : undefined,
      ),
      counts(FIGURES.failed_calls.label, ({ progress }) => progress.failed),
      counts(FIGURES.truncated.label, ({ truncated }) => truncated),
      row(
        FIGURES.latency.label,
        ({ latency_ms }) => latency_ms ? `${Math.round(latency_ms.p50)} ms` : undefined,
      ),
      counts(FIGURES.tokens.label, ({ usage }) => usage?.output_tokens ?? 0),
      row(FIGURES.cost.label, ({ cost }) => cost && showCost(cost)),
    ]),
  );
}

function placeLine({ scenarioId, turn, attempt, score, before, now }: FallenReply): Line {
  const [earlier, later] = [before.scores[score], now.scores[score]].map(showScore);
  return say`${name(scenarioId)}${turn === undefined ? "" : `, turn ${turn}`}${
    attempt === undefined ? "" : `, attempt ${attempt}`
  }: ${name(score)} ${earlier!} before, ${later!} now`;
}

/** The test, and how its runs came to their end. */
function headSection(comparison: Comparison): Section {
  const { group_id, status, progress, runs } = comparison;
  const tests = [...new Set(runs.map(({ test_name }) => test_name))].map((test) => name(test));
  const { dataset } = runs[0]!;
  return {
    isHead: true,
    title: say`Evaluation ${joined(tests, ", ")}: ${runs.length} models, ${status}`,
    lines: kept([
      group_id !== undefined && say`Group ${name(group_id)}`,
      dataset !== undefined && say`Dataset ${message(dataset)}`,
      say`Turns ${progress.done} of ${progress.total}${
        progress.failed > 0 ? `, ${progress.failed} failed` : ""
      }`,
      ...costLines(comparison),
      ...runs.filter((run) => run.status !== "completed").map((run) =>
        say`${
          name(run.name)
        } is ${run.status}: ${run.progress.done} of ${run.progress.total} turns${
          run.detail ? say`, ${message(run.detail)}` : ""
        }`
      ),
      ...runs.flatMap(faultLines),
    ]),
  };
}

/** Why calls of a model failed, and why scores of it are missing. */
function faultLines(model: ComparedRun): Line[] {
  return [
    ...firstLines(model.errors.map(errorLine), { most: SHOWN_FAULTS, noun: "error code" }),
    ...firstLines(missingLines(model), { most: SHOWN_FAULTS, noun: "reason" }),
  ].map((fault) => say`${name(model.name)}: ${fault}`);
}

/** The models with their headline; the best first, and those that are complete. */
function modelTable(models: ComparedRun[]): Table {
  const isWhole = ({ status }: ComparedRun) => Number(status === "completed");
  const meanOf = ({ scores }: ComparedRun) => scores?.[HEADLINE]?.mean ?? -1;
  const hasCost = models.some(({ cost }) => cost);
  return tableOf(
    ["model", "overall", "interval", "pass_rate", "failed_calls", "latency", "cost"],
    models.toSorted((a, b) => isWhole(b) - isWhole(a) || meanOf(b) - meanOf(a)).map((model) => ({
      model: say`${name(model.name)}${isWhole(model) ? "" : ` (${model.status})`}`,
      overall: model.scores?.[HEADLINE]?.mean ?? model.progress.mean,
      interval: model.scores?.[HEADLINE] ?? null,
      pass_rate: model.pass_rate?.mean ?? null,
      failed_calls: model.progress.failed,
      latency: model.latency_ms?.p50 ?? null,
      cost: hasCost ? model.cost ?? null : undefined,
    })),
  );
}

/** A row per score, a column per model. */
function modelScoreTable(models: ComparedRun[]): Table {
  const names = new Set(
    models.flatMap(({ scores }) =>
      Object.keys(scores ?? {}).filter((score) => scores![score]!.mean !== null)
    ),
  );
  names.delete(HEADLINE);
  return tableOf(
    [
      "score",
      ...models.map(({ run_id, name: model }): Column => ({
        key: run_id,
        label: name(model),
        kind: "score",
      })),
    ],
    [HEADLINE, ...names].map((score) => ({
      score: scoreName(score),
      ...Object.fromEntries(models.map(({ run_id, scores }) => [run_id, scores?.[score]?.mean])),
    })),
  );
}

/** Two models against each other by the score that decides; of many those with a verdict first. */
function pairTable({ pairs, decided_by }: Comparison, most: number): Table {
  return tableOf(
    ["pair", "difference", "difference_interval", "p", "better"],
    shownPairs(pairs!, decided_by, most).map((pair) => {
      const { baseline, candidate, verdict, better } = pair;
      const score = pair.scores[decided_by]!;
      return {
        pair: say`${name(candidate)} − ${name(baseline)}`,
        difference: score.difference,
        difference_interval: score,
        p: score.p ?? 1,
        better: better === null ? verdict.replace("_", " ") : name(better),
      };
    }),
  );
}

function shownPairs(pairs: ComparedPair[], decidedBy: string, most: number): ComparedPair[] {
  const compared = pairs.filter(({ scores }) => scores[decidedBy]);
  const isOpen = ({ verdict }: ComparedPair) => Number(verdict === "inconclusive");
  if (compared.length <= most) return compared;
  return compared.toSorted((a, b) => isOpen(a) - isOpen(b)).slice(0, most);
}

function pairLines({ pairs: all, best, decided_by, tests }: Comparison): Line[] {
  const pairs = all!;
  const compared = shownPairs(pairs, decided_by, Infinity);
  const more = compared.length - SHOWN_PAIRS;
  const models = new Set(pairs.flatMap(({ baseline, candidate }) => [baseline, candidate]));
  const isIncomplete = compared.some(({ scores }) =>
    (scores[decided_by]!.turns_without_pair ?? 0) > 0
  );
  return kept([
    more > 0 && say`and ${counted(more, "more pair")}`,
    bestLine(best ?? [], models.size),
    say`p and intervals are corrected for ${counted(tests ?? 0, "pair")}`,
    isIncomplete && ["Two models are compared by the turns that both have"],
    ...reasonLines(pairs),
    // One model has more replies that end at the token limit.
    ...firstLines(
      shownPairs(pairs, decided_by, SHOWN_PAIRS).flatMap((pair) =>
        pair.notes.filter(({ code }) => code === "truncated")
          .map(({ detail }) => say`${pairName(pair)}: ${detail}`)
      ),
      { most: SHOWN_REASONS, noun: "note" },
    ),
  ]);
}

const pairName = ({ baseline, candidate }: ComparedPair) =>
  say`${name(candidate)} − ${name(baseline)}`;

/** Why pairs have no verdict; those with the same reason together. */
function reasonLines(pairs: ComparedPair[]): Line[] {
  const open = pairs.filter(({ reason }) => reason !== null);
  const lines = [...Map.groupBy(open, ({ reason }) => reason!)].map(([reason, found]) => {
    const more = found.length - SHOWN_OF_REASON;
    const named = joined(found.slice(0, SHOWN_OF_REASON).map(pairName), ", ");
    return say`${named}${more > 0 ? ` and ${more} more` : ""}: ${reason}`;
  });
  return firstLines(lines, { most: SHOWN_REASONS, noun: "reason" });
}

function bestLine(best: string[], of: number): Line {
  const [only, ...others] = best;
  if (only === undefined) return ["Each model is worse than another one"];
  if (others.length === 0) return say`Best: ${name(only)}`;
  if (best.length === of) return ["No model was shown to be better than another one"];
  const names = joined(best.map((model) => name(model)), ", ");
  return say`No model was shown to be better than ${names}`;
}
