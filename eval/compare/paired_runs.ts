import type { ScenarioPair } from "./statistics/clusters.ts";
import type { Comparison, Unpaired } from "./comparison.ts";
import { compareExpectations, type PlannedScenario } from "./expectations.ts";
import {
  type Paired,
  pairScenarios,
  pairTurns,
  type ReachedScenario,
  reachedScenarios,
} from "./pairing.ts";
import type { TurnPair } from "./turn_pair.ts";
import { questionOf } from "../results/question.ts";
import { type ComparedTurn, readScores, type RunScores, type RunScoring } from "./turn_scores.ts";

/** A run's batch and what came of it, attempts in any number and also unfinished ones. */
export interface ComparableRun extends RunScoring {
  scenarios: PlannedScenario[];
  turns: AsyncIterable<ComparedTurn>;
  /** What its turns were asked after; `generated` if unset. */
  history?: "generated" | "reference";
}

/** Positions in the batches of both runs, counted from 0. */
type BothIndexes = Record<"baseline" | "candidate", number>;

/** The same turn in both runs, and where it is. */
export interface PlacedTurnPair extends TurnPair {
  id: string;
  index: BothIndexes;
}

/** Two scenarios that belong together, and where they are. */
export interface PairedScenario extends ScenarioPair {
  index: BothIndexes;
  turns: PlacedTurnPair[];
}

/** What two runs share, and what is only in one of them. */
export interface PairedRuns {
  pairs: PairedScenario[];
  /** Scenarios of the same id that do not ask or expect the same. */
  changed: string[];
  onlyIn: Record<"baseline" | "candidate", Unpaired>;
  /** Turns that are in both runs, but were asked after different histories. They are in no pair. */
  otherHistory: number;
  /** Scores that both runs have. */
  common: string[];
}

/** A run that was read: its batch and its scores. */
export type ReadRun = RunScores & Pick<ComparableRun, "scenarios" | "history">;

/** Reads a run once, to be paired with others. */
export async function readRun(run: ComparableRun): Promise<ReadRun> {
  const { scenarios, history = "generated" } = run;
  return { ...await readScores(run.turns, run), scenarios, history };
}

/** Reads two runs and pairs what belongs together; `pause` is awaited between the steps. */
export async function pairRuns(
  { baseline, candidate }: { baseline: ComparableRun; candidate: ComparableRun },
  pause: () => Promise<void>,
): Promise<PairedRuns> {
  return await pairReadRuns(
    { baseline: await readRun(baseline), candidate: await readRun(candidate) },
    pause,
  );
}

/** The same for runs that were read. */
export async function pairReadRuns(
  { baseline, candidate }: { baseline: ReadRun; candidate: ReadRun },
  pause: () => Promise<void>,
): Promise<PairedRuns> {
  const paired = pairScenarios(
    await reachedScenarios(baseline.scenarios, { ...baseline, pause }),
    await reachedScenarios(candidate.scenarios, { ...candidate, pause }),
  );
  const isSameHistory = baseline.history === candidate.history;
  const { pairs, changed, turnsOnlyIn, otherHistory } = await pairAllTurns(paired, {
    isSameHistory,
    pause,
  });
  return {
    pairs,
    changed,
    otherHistory,
    onlyIn: {
      baseline: {
        scenarios: paired.onlyInBaseline.map(({ id }) => id),
        turns: turnsOnlyIn.baseline,
        scores: [...baseline.names.difference(candidate.names)],
      },
      candidate: {
        scenarios: paired.onlyInCandidate.map(({ id }) => id),
        turns: turnsOnlyIn.candidate,
        scores: [...candidate.names.difference(baseline.names)],
      },
    },
    common: [...baseline.names].filter((name) => candidate.names.has(name)),
  };
}

async function pairAllTurns(
  paired: Paired<ReachedScenario>,
  { isSameHistory, pause }: { isSameHistory: boolean; pause: () => Promise<void> },
) {
  let otherHistory = 0;
  const pairs: PairedScenario[] = [];
  const changed: string[] = [];
  const turnsOnlyIn: Record<"baseline" | "candidate", Comparison["only_in_baseline"]["turns"]> = {
    baseline: [],
    candidate: [],
  };
  for (const { baseline: { id, index, planned, fingerprint, turns }, candidate } of paired.pairs) {
    const asked = [questionOf(planned), questionOf(candidate.planned)];
    const inside = pairTurns(turns, candidate.turns);
    const both = inside.pairs.map((turn) => ({
      ...turn,
      expectsOther: compareExpectations(
        { scenario: planned, turn: turn.baseline.index },
        { scenario: candidate.planned, turn: turn.candidate.index },
      ),
    }));
    // A first turn has no history.
    const comparable = both.filter((turn) =>
      isSameHistory || (turn.baseline.index === 0 && turn.candidate.index === 0)
    );
    otherHistory += both.length - comparable.length;
    pairs.push({
      id,
      question: asked.join(),
      key: asked.sort().join(),
      index: { baseline: index, candidate: candidate.index },
      turns: comparable.map((turn) => ({
        id: turn.baseline.id,
        index: { baseline: turn.baseline.index, candidate: turn.candidate.index },
        baseline: turn.baseline.attempts,
        candidate: turn.candidate.attempts,
        ...(turn.expectsOther && { expectsOther: turn.expectsOther }),
      })),
    });
    const isChanged = fingerprint !== candidate.fingerprint ||
      both.some(({ expectsOther }) => expectsOther !== undefined);
    if (isChanged) changed.push(id);
    const place = (turn: { id: string }) => ({ scenario_id: id, interaction_id: turn.id });
    for (const turn of inside.onlyInBaseline) turnsOnlyIn.baseline.push(place(turn));
    for (const turn of inside.onlyInCandidate) turnsOnlyIn.candidate.push(place(turn));
    await pause();
  }
  return { pairs, changed, turnsOnlyIn, otherHistory };
}
