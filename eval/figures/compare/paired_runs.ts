import type { ScenarioPair } from "./statistics/clusters.ts";
import type { Unpaired } from "../comparison.ts";
import { compareExpectations, type PlannedScenario } from "../expectations.ts";
import type { TurnPair } from "./turn_pair.ts";
import { questionOf } from "../summary/notes.ts";
import {
  type AttemptTurn,
  type ComparedTurn,
  readScores,
  type RunScores,
  type RunScoring,
} from "../turn_scores.ts";
import type { EvaluateRequest } from "../../test/evaluate_request.ts";
import { systemPromptOf } from "../../test/scenario.ts";

/** A run's batch and its turns. The run may be unfinished. */
export interface ComparableRun extends RunScoring {
  scenarios: PlannedScenario[];
  turns: AsyncIterable<ComparedTurn>;
  /** The history of its turns; `generated` if unset. */
  history?: EvaluateRequest["history"];
}

type Side = "baseline" | "candidate";

/** Positions in the batches of both runs, counted from 0. */
type BothIndexes = Record<Side, number>;

/** The same turn in both runs, and its positions. */
export interface PlacedTurnPair extends TurnPair {
  id: string;
  index: BothIndexes;
}

/** A scenario in both runs, and its positions. */
export interface PairedScenario extends ScenarioPair {
  index: BothIndexes;
  turns: PlacedTurnPair[];
}

/** What both runs have, and what only one of them has. */
export interface PairedRuns {
  pairs: PairedScenario[];
  /** Ids of paired scenarios with different messages or expectations. */
  changed: string[];
  onlyIn: Record<Side, Unpaired>;
  /** Whether one run was asked after its own replies, the other one after the references. */
  hasOtherHistory: boolean;
  /** Scores that both runs have. */
  common: string[];
}

/** The batch and the scores of a run. */
export type ReadRun = RunScores & Pick<ComparableRun, "scenarios" | "history">;

/** Reads a run once, to be paired with others. */
export async function readRun(run: ComparableRun): Promise<ReadRun> {
  const { scenarios, history = "generated" } = run;
  return { ...await readScores(run.turns, run), scenarios, history };
}

/** Reads two runs and pairs their scenarios and turns; `pause` is awaited between the steps. */
export async function pairRuns(
  { baseline, candidate }: Record<Side, ComparableRun>,
  pause: () => Promise<void>,
): Promise<PairedRuns> {
  return await pairReadRuns(
    { baseline: await readRun(baseline), candidate: await readRun(candidate) },
    pause,
  );
}

/** The same for runs that have been read. */
export async function pairReadRuns(
  { baseline, candidate }: Record<Side, ReadRun>,
  pause: () => Promise<void>,
): Promise<PairedRuns> {
  // Ids may repeat: those with the same messages are paired first, the others in order.
  const paired = pairBy(
    await reachedScenarios(baseline.scenarios, { ...baseline, pause }),
    await reachedScenarios(candidate.scenarios, { ...candidate, pause }),
    [({ fingerprint }) => fingerprint, ({ id }) => id],
  );
  const { turnsOnlyIn, ...found } = await pairAllTurns(paired, pause);
  const onlyIn = (side: Side, own: ReadRun, other: ReadRun): Unpaired => ({
    scenarios: paired.onlyIn[side].map(({ id }) => id),
    turns: turnsOnlyIn[side],
    scores: [...own.names.difference(other.names)],
  });
  return {
    ...found,
    hasOtherHistory: baseline.history !== candidate.history,
    onlyIn: {
      baseline: onlyIn("baseline", baseline, candidate),
      candidate: onlyIn("candidate", candidate, baseline),
    },
    common: [...baseline.names].filter((name) => candidate.names.has(name)),
  };
}

async function pairAllTurns(
  paired: Paired<ReachedScenario>,
  pause: () => Promise<void>,
) {
  const pairs: PairedScenario[] = [];
  const changed: string[] = [];
  const turnsOnlyIn: Record<Side, Unpaired["turns"]> = { baseline: [], candidate: [] };
  for (const { baseline: { id, index, planned, fingerprint, turns }, candidate } of paired.pairs) {
    const own = questionOf(planned);
    const isSame = fingerprint === candidate.fingerprint;
    const asked = [own, isSame ? own : questionOf(candidate.planned)];
    const inside = pairBy(turns, candidate.turns, [
      ({ id, user_message }) => JSON.stringify([id, user_message]),
      ({ id }) => id,
    ]);
    const both = inside.pairs.map((turn) => ({
      ...turn,
      expectsOther: compareExpectations(
        { scenario: planned, turn: turn.baseline.index },
        { scenario: candidate.planned, turn: turn.candidate.index },
      ),
    }));
    pairs.push({
      id,
      question: asked.join(),
      key: asked.sort().join(),
      index: { baseline: index, candidate: candidate.index },
      turns: both.map((turn) => ({
        id: turn.baseline.id,
        index: { baseline: turn.baseline.index, candidate: turn.candidate.index },
        baseline: turn.baseline.attempts,
        candidate: turn.candidate.attempts,
        ...(turn.expectsOther && { expectsOther: turn.expectsOther }),
      })),
    });
    const isChanged = !isSame ||
      both.some(({ expectsOther }) => expectsOther !== undefined);
    if (isChanged) changed.push(id);
    const place = (turn: { id: string }) => ({ scenario_id: id, interaction_id: turn.id });
    for (const turn of inside.onlyIn.baseline) turnsOnlyIn.baseline.push(place(turn));
    for (const turn of inside.onlyIn.candidate) turnsOnlyIn.candidate.push(place(turn));
    await pause();
  }
  return { pairs, changed, turnsOnlyIn };
}

/** A turn of the batch that at least one attempt has reached. */
interface ReachedTurn {
  id: string;
  /** The position in its scenario, counted from 0. */
  index: number;
  user_message: string;
  /** In every attempt that has reached it. */
  attempts: AttemptTurn[];
}

/** A scenario of the batch that has results. */
interface ReachedScenario {
  id: string;
  /** The position in the batch, counted from 0. */
  index: number;
  planned: PlannedScenario;
  turns: ReachedTurn[];
  /** Equal for scenarios with the same id and the same messages. */
  fingerprint: string;
}

/** Pairs, and the items of each side without a partner. */
interface Paired<T> {
  pairs: Record<Side, T>[];
  onlyIn: Record<Side, T[]>;
}

/** The scenarios of a batch that have results. `pause` is awaited after each. */
async function reachedScenarios(
  scenarios: PlannedScenario[],
  { turns, pause }: Pick<RunScores, "turns"> & { pause: () => Promise<void> },
): Promise<ReachedScenario[]> {
  const found: ReachedScenario[] = [];
  for (const [index, planned] of scenarios.entries()) {
    const { id, interactions } = planned;
    const reached = turns[index];
    if (!reached) continue;
    found.push({
      id,
      index,
      planned,
      turns: interactions.flatMap(({ id, user_message }, turn) => {
        const attempts = reached[turn];
        return attempts ? [{ id, index: turn, user_message, attempts }] : [];
      }),
      fingerprint: JSON.stringify([
        id,
        systemPromptOf(planned),
        ...(planned.prior_messages ? [planned.prior_messages] : []),
        ...interactions.map((turn) => turn.user_message),
      ]),
    });
    await pause();
  }
  return found;
}

/** Pairs by the first key, the rest by the next one; keeps the order of the baseline. */
function pairBy<T>(
  baseline: T[],
  candidate: T[],
  keys: [(item: T) => string, ...((item: T) => string)[]],
): Paired<T> {
  const [first] = keys;
  const isAlike = baseline.length === candidate.length &&
    baseline.every((item, index) => first(item) === first(candidate[index]!));
  if (isAlike) { // as a rule, and much faster for 50,000 scenarios
    const pairs = baseline.map((item, index) => ({ baseline: item, candidate: candidate[index]! }));
    return { pairs, onlyIn: { baseline: [], candidate: [] } };
  }
  const partners = new Map<T, T>();
  const taken = new Set<T>();
  for (const key of keys) {
    const free = Map.groupBy(candidate.filter((item) => !taken.has(item)), key);
    for (const item of baseline) {
      if (partners.has(item)) continue;
      const partner = free.get(key(item))?.shift();
      if (partner === undefined) continue;
      partners.set(item, partner);
      taken.add(partner);
    }
  }
  return {
    pairs: baseline.filter((item) => partners.has(item))
      .map((item) => ({ baseline: item, candidate: partners.get(item)! })),
    onlyIn: {
      baseline: baseline.filter((item) => !partners.has(item)),
      candidate: candidate.filter((item) => !taken.has(item)),
    },
  };
}
