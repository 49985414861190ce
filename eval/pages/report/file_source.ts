import type { GradeAgreement } from "../../test/grades.ts";
import type { InteractionResult } from "../../test/interaction_result.ts";
import type { Run } from "../../http/schemas/run_schemas.ts";
import type { ScoreDescription } from "../../score/score.ts";
import type { Comparison } from "../../figures/compare_stored.ts";
import type { PairLists } from "../../figures/pair_lists.ts";
import type { RunSummary } from "../../figures/run_summary.ts";
import type { TurnRow } from "../../run/turn_view.ts";
import type { ScenarioRow, ShownTurn } from "../../http/schemas/turn_schemas.ts";
import { mean } from "../../score/mean.ts";
import { standingOf } from "../../figures/passing.ts";
import type { Parameters, Source } from "../source.ts";
import { placeOf } from "../words.ts";

/** What a report of a run holds. Every turn has its whole interaction. */
interface RunReport {
  run: Run;
  summary: RunSummary;
  scores: ScoreDescription[];
  scenarios: { id: string; description: string }[];
  pass_threshold: number;
  turns: (TurnRow & { interaction: InteractionResult })[];
  agreement: GradeAgreement;
}

/** The data of a report: one run, or those that are compared. */
export interface ReportData {
  runs: RunReport[];
  comparison?: Comparison;
  /** By score, of two runs: all scenarios, and the turns that changed most. */
  pairs?: Record<string, PairLists>;
}

/** A report answers the views as the service does, from what the file holds. */
export function createFileSource({ runs, comparison, pairs = {} }: ReportData): Source {
  const sources = new Map(runs.map((report) => [report.run.run_id, createRunSource(report)]));
  const of = (id: string) => sources.get(id)!;
  const page = { next_cursor: null };
  const pairsOf = ({ score }: Parameters) => pairs[String(score)] ?? { scenarios: [], turns: [] };
  return {
    isLive: false,
    run: (id) => of(id).run(),
    summary: (id) => of(id).summary(),
    scenarios: (id, parameters) => of(id).scenarios(parameters),
    turns: (id, parameters) => of(id).turns(parameters),
    turn: (id, place) => of(id).turn(place),
    agreement: (id) => of(id).agreement(),
    turnGrades: (id, place) => of(id).turnGrades(place),
    lastRun: () => Promise.resolve(null),
    scores: () => Promise.resolve({ scores: runs[0]!.scores }),
    selfTest: () => Promise.resolve({ scores: {} }),
    comparison: () => Promise.resolve(comparison!),
    pairedScenarios(parameters) {
      const { scenarios } = pairsOf(parameters);
      return Promise.resolve({ scenarios, total: scenarios.length, ...page });
    },
    pairedTurns(parameters) {
      const { turns } = pairsOf(parameters);
      const shown = turns.slice(0, Number(parameters.limit));
      return Promise.resolve({ turns: shown, total: turns.length, ...page });
    },
  };
}

function createRunSource(data: RunReport) {
  const byPlace = new Map(data.turns.map((turn) => [placeOf(turn), turn]));
  const attemptsAt = (turn: TurnRow) =>
    Array.from(
      { length: data.run.attempts },
      (_, attempt) => byPlace.get(placeOf({ ...turn, attempt_id: attempt + 1 })),
    );
  return {
    run: () => Promise.resolve(data.run),
    summary: () => Promise.resolve(data.summary),
    scenarios: ({ sort }: Parameters) => Promise.resolve(listScenarios(data, sort === "stability")),
    turns(parameters: Parameters) {
      const fitting = data.turns.filter((turn) => fits(turn, parameters));
      const turns = fitting.toSorted(byOrder(String(parameters.sort ?? "position"), attemptsAt))
        .map((turn) => ({
          ...turn,
          attempts: attemptsAt(turn).map((one) => one?.outcome ?? null),
        }));
      return Promise.resolve({ turns, total: turns.length, next_cursor: null });
    },
    agreement: () => Promise.resolve(data.agreement),
    turnGrades(place: string) {
      const grades = byPlace.get(place)?.interaction.grades ?? [];
      return Promise.resolve({ grades });
    },
    turn(place: string): Promise<ShownTurn> {
      const turn = byPlace.get(place);
      if (!turn) return Promise.reject(new Error(`the report has no turn ${place}`));
      const conversation = Array.from(
        { length: turn.turn + 1 },
        (_, index) => byPlace.get(placeOf({ ...turn, turn: index })),
      ).filter((found) => found !== undefined);
      const shown: ShownTurn = {
        ...turn,
        run_id: data.run.run_id,
        pass_threshold: data.pass_threshold,
        description: data.scenarios[turn.scenario]?.description ?? "",
        conversation,
        omitted: 0,
      };
      return Promise.resolve(shown);
    },
  };
}

/** Whether a turn meets the filters, as `GET /runs/{id}/turns` has them. */
function fits(turn: RunReport["turns"][number], parameters: Parameters): boolean {
  const { outcome, score = "overall", min, max, label_key, expected, found, text } = parameters;
  const value = turn.scores[score];
  const isInRange = (min === undefined && max === undefined) ||
    (typeof value === "number" && value >= Number(min ?? 0) && value <= Number(max ?? 1));
  const label = label_key === undefined ? undefined : turn.labels[label_key];
  const { user_message, agent_reply, reference_reply } = turn.interaction;
  const wanted = String(text ?? "").toLowerCase();
  const same = (given: unknown, own: unknown) =>
    given === undefined || String(given) === String(own);
  const { latency_min = 0, latency_max = Infinity, agreement, graded } = parameters;
  const isWanted = (wanted: unknown, is: boolean) =>
    wanted === undefined || String(is) === String(wanted);
  return isInRange && same(agreement, turn.agreement) &&
    isWanted(graded, (turn.interaction.grades ?? []).length > 0) &&
    (turn.latency_ms ?? 0) >= Number(latency_min) &&
    (turn.latency_ms ?? Infinity) <= Number(latency_max) &&
    (outcome === undefined || String(outcome).split(",").includes(turn.outcome)) &&
    (label_key === undefined || label !== undefined) &&
    same(expected, label?.expected) && same(found, label?.found) &&
    same(parameters.scenario_id, turn.scenario_id) && same(parameters.scenario, turn.scenario) &&
    same(parameters.attempt_id, turn.attempt_id) && same(parameters.turn, turn.turn) &&
    [user_message, agent_reply, reference_reply].some((own) => own.toLowerCase().includes(wanted));
}

function byOrder(
  sort: string,
  attemptsAt: (turn: TurnRow) => (TurnRow | undefined)[],
): (a: TurnRow, b: TurnRow) => number {
  const sign = sort.startsWith("-") ? -1 : 1;
  const name = sort.replace(/^-/, "");
  const valueOf = (turn: TurnRow) =>
    name === "latency_ms" || name === "tokens"
      ? turn[name]
      : name === "worst" && typeof turn.scores.overall === "number"
      ? turn.scores.overall + 2 * attemptsAt(turn).filter((other) => isBefore(other, turn)).length
      : turn.scores[name] ?? null;
  return (a, b) => {
    if (name === "position" || name === "seq") return sign * (a.seq - b.seq);
    const [one, other] = [valueOf(a), valueOf(b)];
    if (one === null || other === null) {
      return Number(one === null) - Number(other === null) || a.seq - b.seq;
    }
    return sign * (one - other) || a.seq - b.seq;
  };
}

/** Whether another attempt at a turn is lower, or as low and earlier. */
function isBefore(other: TurnRow | undefined, { scores, attempt_id }: TurnRow): boolean {
  const lower = (scores.overall ?? 0) - (other?.scores.overall ?? 2);
  return lower > 0 || (lower === 0 && other!.attempt_id < attempt_id);
}

function listScenarios(
  { scenarios, turns, run }: RunReport,
  isByStability: boolean,
) {
  const rows = scenarios.map(({ id, description }, scenario): ScenarioRow => ({
    scenario,
    scenario_id: id,
    description,
    attempts: [],
  }));
  const groups = Map.groupBy(turns, (turn) => `${turn.scenario}/${turn.attempt_id}`);
  for (const own of groups.values()) {
    const count = (outcome: TurnRow["outcome"]) =>
      own.filter((turn) => turn.outcome === outcome).length;
    const attempt = {
      turns: own.length,
      passed: count("passed"),
      below: count("below"),
      failed: count("failed"),
      missing: count("missing"),
      mean: mean(own.flatMap(({ scores }) => scores.overall ?? [])),
    };
    rows[own[0]!.scenario]!.attempts.push({
      attempt_id: own[0]!.attempt_id,
      ...attempt,
      standing: standingOf(own.map(({ outcome }) => outcome)),
    });
  }
  for (const row of rows) {
    const first = turns.find(({ scenario, turn }) => scenario === row.scenario && turn === 0);
    row.description ||= first?.interaction.user_message ?? "";
    row.attempts = row.attempts.filter(({ attempt_id }) => attempt_id <= run.attempts);
  }
  const rank = ({ attempts }: ScenarioRow) => {
    const share = attempts.filter(({ standing }) => standing === "passed").length / attempts.length;
    return share > 0 && share < 1 ? Math.abs(share - 0.5) : share === 0 ? 1 : 2;
  };
  const sorted = isByStability ? rows.toSorted((a, b) => rank(a) - rank(b)) : rows;
  return { scenarios: sorted, total: rows.length, next_cursor: null };
}
