import { digestBatch } from "../../eval/store/runs/batch_digest.ts";
import type { TurnPosition } from "../../eval/store/turns/position.ts";
import type { RunGroup, RunRecord, StoredRun } from "../../eval/store/runs/run_record.ts";
import type { IdempotencyKey, KnownRun, NewRun, RunStore } from "../../eval/store/store.ts";
import type { PendingReply, StoredTurn } from "../../eval/store/turns/turn_record.ts";
import { createKeptRuns } from "../../eval/store/runs/kept_runs.ts";
import { newStoredRun } from "../../eval/store/runs/run_creation.ts";
import { createRunIds } from "../../eval/store/runs/run_id.ts";
import { memoryGrades } from "./memory_grades.ts";
import { listMemoryRuns, memorySummaries, memoryTurnQueries } from "./memory_lists.ts";
import { memoryDatasets } from "./memory_datasets.ts";
import { toTurnText } from "./stored_runs.ts";

const placeOf = ({ scenario, attempt, turn }: TurnPosition) => `${scenario}/${attempt}/${turn}`;
const withoutRequest = ({ request: _, ...record }: StoredRun): RunRecord => record;

/** A store of plain maps, which needs no opening or closing. It passes the real store's tests. */
export function memoryStore({ now = Date.now }: { now?: () => number } = {}): RunStore {
  const runs = new Map<string, StoredRun>();
  const turns = new Map<string, Map<string, StoredTurn & { seq: number }>>();
  const keys = new Map<string, { bodyHash: string; runId: string; createdAt: number }>();
  const replies = new Map<string, PendingReply>();
  const pendingOf = (id: string): PendingReply[] =>
    [...replies].filter(([key, reply]) =>
      key.startsWith(`${id}/`) && !turns.get(id)?.has(placeOf(reply))
    ).map(([, reply]) => ({ ...reply }));
  const kept = createKeptRuns((id) => turns.delete(id));
  const newId = createRunIds(now);
  let trusted: number | undefined;
  const turnsOf = (id: string) => [...turns.get(id)?.values() ?? []];
  const lastSeq = (id: string) => Math.max(0, ...turnsOf(id).map(({ seq }) => seq));
  const plain = ({ seq: _, ...turn }: StoredTurn & { seq: number }): StoredTurn => turn;
  const inOrder = (a: StoredTurn, b: StoredTurn) =>
    a.scenario - b.scenario || a.attempt - b.attempt || a.turn - b.turn;

  const tags = new Map<string, string>();
  const olderThan = (moment: number) =>
    [...runs.values()].filter((run) =>
      run.status !== "running" && (run.finishedAt ?? run.createdAt) < moment &&
      ![...tags.values()].includes(run.id)
    );

  function claim(idempotency: IdempotencyKey | undefined, id: string) {
    if (!idempotency) return undefined;
    const known = findByKey(idempotency);
    if (known) return known;
    const { caller, key, bodyHash } = idempotency;
    keys.set(`${caller} ${key}`, { bodyHash, runId: id, createdAt: now() });
  }

  function findByKey({ caller, key, bodyHash }: IdempotencyKey): KnownRun | undefined {
    const known = keys.get(`${caller} ${key}`) ?? keys.get(` ${key}`);
    if (!known || known.createdAt <= now() - 86_400_000) return undefined;
    return { outcome: known.bodyHash === bodyHash ? "known" : "mismatch", id: known.runId };
  }

  function create(
    run: NewRun,
    { id, group, batchDigest }: { id: string; group: RunGroup | null; batchDigest: string },
  ): StoredRun {
    const stored = structuredClone(newStoredRun(run, { id, moment: now(), batchDigest, group }));
    const { parentId } = stored;
    runs.set(id, stored);
    const parents = [...turns.get(parentId ?? "") ?? []];
    const failed = parents.map(([, turn]) => turn).filter(({ result }) => result.error);
    const kept = parents.filter(([, { scenario, attempt, turn }]) =>
      !failed.some((other) =>
        other.scenario === scenario && other.attempt === attempt && other.turn <= turn
      )
    );
    const isMissing = ({ result }: StoredTurn) => result.missing_scores?.overall !== undefined;
    const copied = kept.filter(([, turn]) => !isMissing(turn)).map(([key, turn]) => {
      const result = { copied_from_run: parentId!, ...turn.result };
      return [key, { ...turn, result }] as const;
    });
    turns.set(id, new Map(copied));
    for (const [key, { scenario, attempt, turn, result }] of kept) {
      if (!isMissing(turns.get(parentId!)!.get(key)!)) continue;
      const { agent_reply: content, usage, latency_ms: latencyMs } = result;
      const { finish_reason: finishReason, reasoning, reply_encoding: encoding } = result;
      replies.set(`${id}/${key}`, {
        ...{ scenario, attempt, turn, content, usage, latencyMs, tries: 0 },
        ...(finishReason !== undefined && { finishReason }),
        ...(reasoning !== undefined && { reasoning }),
        ...(encoding && { encoding }),
        ...(result.cost !== undefined && { cost: result.cost }),
        fromRun: result.reply_from_run ?? result.copied_from_run ?? parentId!,
      });
    }
    return stored;
  }

  const summaries = memorySummaries();
  const grades = memoryGrades({
    now,
    hasTurn: (id, position) => turns.get(id)?.has(placeOf(position)),
  });

  return {
    ...memoryTurnQueries(turnsOf),
    ...summaries,
    ...grades,
    ...memoryDatasets(now),
    async createRun(run) {
      const id = newId();
      const batchDigest = await digestBatch(run.request.test_batch);
      const known = claim(run.idempotency, id);
      if (known) return known;
      const group = runs.get(run.parentId ?? "")?.group ?? null;
      return { outcome: "created", id, run: create(run, { id, group, batchDigest }) };
    },
    async createGroup({ runs: wanted, idempotency }) {
      const id = newId();
      const batchDigest = await digestBatch(wanted[0]!.request.test_batch); // all have the same
      const known = claim(idempotency, id);
      if (known) return known;
      const created = wanted.map((run, index) =>
        create(run, { id: newId(), group: { id, index, name: run.name }, batchDigest })
      );
      return { outcome: "created", id, runs: created };
    },
    // deno-lint-ignore require-await
    async recordTurn(id, turn) {
      const key = placeOf(turn);
      const own = turns.get(id)!;
      if (own.has(key)) return "taken";
      own.set(key, { ...structuredClone(turn), seq: lastSeq(id) + 1 });
      return "stored";
    },
    findByKey: (key) => Promise.resolve(findByKey(key)),
    // deno-lint-ignore require-await
    async recordReply(id, reply) {
      replies.set(`${id}/${placeOf(reply)}`, { ...structuredClone(reply), tries: 0 });
    },
    pendingPositions: (id) =>
      Promise.resolve(
        pendingOf(id).map(({ scenario, attempt, turn }) => ({ scenario, attempt, turn })),
      ),
    pendingReplies: (id, { scenario, attempt }) =>
      Promise.resolve(
        pendingOf(id).filter((reply) => reply.scenario === scenario && reply.attempt === attempt),
      ),
    // deno-lint-ignore require-await
    async countTry(id, position) {
      replies.get(`${id}/${placeOf(position)}`)!.tries++;
    },
    async setStatus(id, { status, detail = null, tally = null, from }) {
      const before = runs.get(id)?.status;
      if (!before || (from && !from.includes(before))) return before;
      summaries.forget(id);
      const run = runs.get(id)!;
      const isOver = status !== "running" && status !== "interrupted";
      const finishedAt = isOver ? Math.max(now(), run.createdAt) : null;
      runs.set(id, { ...run, status, detail, finishedAt } as StoredRun);
      runs.get(id)!.tally = tally === "count" ? await this.tally(id) : tally;
      return status;
    },
    getRecord(id) {
      const run = runs.get(id);
      return Promise.resolve(run && withoutRequest(run));
    },
    getRun: (id) => Promise.resolve(runs.get(id)),
    unfinishedRuns: () =>
      Promise.resolve([...runs.values()].filter((r) => r.status === "running").map((r) => r.id)),
    listRuns: (filter) =>
      Promise.resolve(listMemoryRuns([...runs.values()], filter, summaries.overall)),
    groupRuns(groupId) {
      const members = [...runs.values()].filter(({ group }) => group?.id === groupId);
      const latest = new Map(members.map((run) => [run.group!.index, withoutRequest(run)]));
      return Promise.resolve([...latest].sort(([a], [b]) => a - b).map(([, run]) => run));
    },
    listGroups({ before, limit }) {
      const ids = new Set([...runs.values()].flatMap(({ group }) => group ? [group.id] : []));
      const found = [...ids].sort().reverse().filter((id) => before === undefined || id < before);
      return Promise.resolve(found.slice(0, limit));
    },
    async *turns(id) {
      yield* turnsOf(id).sort(inOrder).map(plain);
    },
    async *turnPages(id, { from: first, until } = { from: 0, until: Infinity }) {
      const all = turnsOf(id).filter(({ scenario }) => scenario >= first && scenario < until)
        .sort(inOrder).map(toTurnText);
      for (let from = 0; from < all.length; from += 7) yield all.slice(from, from + 7);
    },
    turnsAfter: (id, { seq, limit }) =>
      Promise.resolve(
        turnsOf(id).filter((turn) => turn.seq > seq).sort((a, b) => a.seq - b.seq).slice(0, limit)
          .map(({ seq, scenario, attempt, turn, result }) => ({
            seq,
            scenario,
            attempt,
            turn,
            resultJson: JSON.stringify(result),
          })),
      ),
    tally(id) {
      const all = turnsOf(id);
      const values = all.filter(({ attempt }) => attempt < (runs.get(id)?.attempts ?? 0))
        .map(({ result }) => result.scores.overall)
        .filter((value) => typeof value === "number");
      return Promise.resolve({
        done: all.length,
        failed: all.filter(({ result }) => result.error).length,
        missing: all.filter(({ result }) => result.missing_scores?.overall !== undefined).length,
        scored: values.length,
        mean: values.length === 0 ? null : values.reduce((a, b) => a + b) / values.length,
        lastSeq: lastSeq(id),
      });
    },
    meanOverall(id) {
      const counted = turnsOf(id).filter(({ attempt }) => attempt < (runs.get(id)?.attempts ?? 0));
      const means = [...Map.groupBy(counted, ({ scenario }) => scenario).values()].flatMap(
        (turns) => {
          const values = turns.map(({ result }) => result.scores.overall)
            .filter((value) => typeof value === "number");
          return values.length === 0 ? [] : [values.reduce((a, b) => a + b) / values.length];
        },
      );
      return Promise.resolve(
        means.length === 0 ? null : means.reduce((a, b) => a + b) / means.length,
      );
    },
    attemptCounts(id) {
      const groups = Map.groupBy(
        turnsOf(id).sort(inOrder),
        (turn) => `${turn.scenario}/${turn.attempt}`,
      );
      return Promise.resolve([...groups.values()].map((group) => ({
        scenario: group[0]!.scenario,
        attempt: group[0]!.attempt,
        turns: group.length,
      })));
    },
    attemptTurns: (id, { scenario, attempt }) =>
      Promise.resolve(
        turnsOf(id).filter((turn) => turn.scenario === scenario && turn.attempt === attempt)
          .sort(inOrder).map(plain),
      ),
    keep: kept.keep,
    deleteRun(id, { endedBefore } = {}) {
      const isSpared = endedBefore !== undefined &&
        !olderThan(endedBefore).some((r) => r.id === id);
      if (isSpared) return Promise.resolve(false);
      if (kept.isKept(id)) kept.markDeleted(id);
      else turns.delete(id);
      const groupId = runs.get(id)?.group?.id;
      const isLast = [...runs.values()].filter((run) => run.group?.id === groupId).length === 1;
      const gone = groupId !== undefined && isLast ? [id, groupId] : [id];
      for (const [key, { runId }] of keys) if (gone.includes(runId)) keys.delete(key);
      for (const [name, runId] of tags) if (runId === id) tags.delete(name);
      grades.forget(id);
      return Promise.resolve(runs.delete(id));
    },
    findTag: (name) => Promise.resolve(tags.get(name)),
    setTag: (name, id) => Promise.resolve(void tags.set(name, id)),
    setGate: (id, gate) => Promise.resolve(void (runs.get(id)!.gate = gate)),
    countOlderThan: (moment) => Promise.resolve(olderThan(moment).length),
    checkWrite: () => Promise.resolve(),
    checkRead: () => Promise.resolve(),
    trustedMoment() {
      const moments = [...runs.values()].map((run) => run.finishedAt ?? run.createdAt);
      return Promise.resolve(trusted ?? (moments.length > 0 ? Math.max(...moments) : null));
    },
    trustMoment: (moment) => Promise.resolve(void (trusted = moment)),
    async deleteOlderThan(moment) {
      let deleted = 0;
      for (const { id } of olderThan(moment)) {
        if (await this.deleteRun(id, { endedBefore: moment })) deleted++;
      }
      return deleted;
    },
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}
