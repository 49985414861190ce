import type { InteractionResult } from "../../test/interaction_result.ts";
import { countedHistory } from "../../test/conversations.ts";
import type { Comparison } from "../../figures/compare_stored.ts";
import { compareExpectations } from "../../figures/expectations.ts";
import { causesOf } from "../../figures/causes.ts";
import { thresholdOf } from "../../figures/passing.ts";
import { requireRun } from "../../store/require_run.ts";
import type { StoredRun } from "../../store/run_record.ts";
import type { RunReader } from "../../store/store.ts";
import {
  listPairsByScore,
  type PairedScenarioRow,
  type PairedTurnRow,
} from "../../figures/pair_lists.ts";

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
  const isSameHistory = countedHistory(baseline.request) === countedHistory(candidate.request);
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

/** Turns with both replies, by score. */
const MOST_TURNS = 20;

/** What a report of a comparison has beside the comparison itself. */
export interface ComparisonDetails {
  /** By score: everything that both runs share. */
  scenarios: Record<string, PairedScenarioRow[]>;
  /** By score: the turns that changed most. */
  turns: Record<string, PairedTurnRow[]>;
  /**
   * By run and place (`id/scenario/attempt_id/turn`): an `InteractionResult` and why it does not
   * pass, as JSON text.
   */
  replies: Map<string, string>;
}

/** Reads both runs once, and the replies of the turns that changed most. */
export async function readDetails(
  reader: RunReader,
  comparison: Comparison,
): Promise<ComparisonDetails> {
  const ids = idsOf(comparison);
  const { scores } = comparison.pairs![0]!;
  const lists = await listPairsByScore(
    reader,
    ids,
    (common) => common.filter((name) => name in scores),
  );
  const details: ComparisonDetails = { scenarios: {}, turns: {}, replies: new Map() };
  for (const [score, { scenarios, turns }] of lists) {
    details.scenarios[score] = scenarios;
    details.turns[score] = turns
      .toSorted((a, b) => Math.abs(b.difference) - Math.abs(a.difference)).slice(0, MOST_TURNS);
  }
  for (const side of ["baseline", "candidate"] as const) {
    const { attempts, request } = await requireRun(reader, ids[side]);
    for (const turn of Object.values(details.turns).flat()) {
      const { scenario, turn: position } = turn[side];
      for (let attempt = 0; attempt < Math.min(attempts, MOST_ATTEMPTS); attempt++) {
        const key = `${ids[side]}/${scenario}/${attempt + 1}/${position}`;
        if (details.replies.has(key)) continue;
        const place = { scenario, attempt, turn: position };
        const [found] = await reader.conversation(ids[side], place, 1);
        if (found?.resultJson && found.turn === position) {
          const result: InteractionResult = JSON.parse(found.resultJson);
          const why = causesOf(result, thresholdOf(request)).map(({ text }) => text);
          details.replies.set(key, JSON.stringify({ ...result, why }));
        }
      }
    }
  }
  return details;
}
