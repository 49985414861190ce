import type { InteractionResult } from "../../test/interaction_result.ts";
import type { Comparison } from "../../figures/compare_stored.ts";
import { compareExpectations } from "../../figures/expectations.ts";
import { causesOf } from "../../figures/causes.ts";
import { thresholdOf } from "../../figures/passing.ts";
import { requireRun } from "../../store/require_run.ts";
import type { StoredRun } from "../../store/run_record.ts";
import type { RunReader } from "../../store/store.ts";

/** Replies that are quoted. */
const MOST_FALLEN = 3;
/** Attempts that are looked through for the reply that fell most. */
const MOST_ATTEMPTS = 10;

/** A turn that the candidate answered worse than the baseline did. */
export interface FallenReply {
  scenarioId: string;
  /** Of the candidate, from 1; unset if there is only one. */
  turn?: number;
  attempt?: number;
  score: string;
  before: InteractionResult;
  now: InteractionResult;
  /** Why the reply does not pass now; see `causesOf`. */
  why: string[];
}

/** The ids of the two runs of a comparison. */
function idsOf({ runs: [baseline, candidate] }: Comparison) {
  return { baseline: baseline!.run_id, candidate: candidate!.run_id };
}

/** The replies behind the scenarios that fell most between two runs. Throws 404 if one is missing. */
export async function readFallen(
  reader: RunReader,
  comparison: Comparison,
): Promise<FallenReply[]> {
  const moved = comparison.pairs?.[0]?.moved;
  const ids = idsOf(comparison);
  const baseline = await requireRun(reader, ids.baseline);
  const candidate = await requireRun(reader, ids.candidate);
  const fallen: FallenReply[] = [];
  for (const { scenario_id: id } of moved?.down ?? []) {
    if (fallen.length === MOST_FALLEN) break;
    const found = await findFallen(reader, { baseline, candidate, id, score: moved!.score });
    if (found) fallen.push(found);
  }
  return fallen;
}

/** The turn of a scenario with the largest fall from the baseline's first attempt. */
async function findFallen(
  reader: RunReader,
  { baseline, candidate, id, score }: {
    baseline: StoredRun;
    candidate: StoredRun;
    id: string;
    score: string;
  },
): Promise<FallenReply | undefined> {
  const before = await readAttempt(reader, { run: baseline, id, attempt: 0 });
  const alike = turnsAlike({ baseline, candidate, id });
  const attempts = Math.min(candidate.attempts, MOST_ATTEMPTS);
  let found: FallenReply | undefined;
  let furthest = 0;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const turns = await readAttempt(reader, { run: candidate, id, attempt });
    for (const [turn, now] of turns.entries()) {
      const earlier = alike.has(now.id) ? before.find(({ id }) => id === now.id) : undefined;
      const fall = earlier ? fallOf({ before: earlier, now, score }) : null;
      if (fall === null || fall <= furthest) continue;
      furthest = fall;
      found = {
        scenarioId: id,
        ...(turns.length > 1 && { turn: turn + 1 }),
        ...(attempts > 1 && { attempt: attempt + 1 }),
        score,
        before: earlier!,
        now,
        why: causesOf(now, thresholdOf(candidate.request)).map(({ text }) => text),
      };
    }
  }
  return found;
}

/** The ids of the turns of a scenario that both runs ask and expect alike, after the same history. */
function turnsAlike(
  { baseline, candidate, id }: { baseline: StoredRun; candidate: StoredRun; id: string },
): Set<string> {
  const scenarioOf = (run: StoredRun) => run.request.test_batch.find((found) => found.id === id);
  const [before, now] = [scenarioOf(baseline), scenarioOf(candidate)];
  if (!before || !now) return new Set();
  const historyOf = ({ request: { history = "generated" } }: StoredRun) => history;
  const isSameHistory = historyOf(baseline) === historyOf(candidate);
  const alike = now.interactions.filter((asked, turn) => {
    const earlier = before.interactions.findIndex((other) => other.id === asked.id);
    return before.interactions[earlier]?.user_message === asked.user_message &&
      (isSameHistory || (earlier === 0 && turn === 0)) &&
      !compareExpectations({ scenario: before, turn: earlier }, { scenario: now, turn });
  });
  return new Set(alike.map((turn) => turn.id));
}

/** `null` if a call failed, so that there is no reply, or a score is missing. */
function fallOf({ before, now, score }: Pick<FallenReply, "before" | "now" | "score">) {
  if (before.error || now.error) return null;
  const [earlier, later] = [before.scores[score], now.scores[score]];
  return typeof earlier === "number" && typeof later === "number" ? earlier - later : null;
}

/** The turns of an attempt; none if the batch has several scenarios of this id. */
async function readAttempt(
  reader: RunReader,
  { run, id, attempt }: { run: StoredRun; id: string; attempt: number },
): Promise<InteractionResult[]> {
  const batch = run.request.test_batch;
  const scenario = batch.findIndex((scenario) => scenario.id === id);
  const { length } = batch[scenario]?.interactions ?? [];
  if (!length || batch.findLastIndex((other) => other.id === id) !== scenario) return [];
  const turns = await reader.conversation(run.id, { scenario, attempt, turn: length - 1 }, length);
  return turns.flatMap(({ resultJson }) => resultJson ? [JSON.parse(resultJson)] : []);
}
