import { createYielder } from "../../../shared/service/waiting.ts";
import { type Kysely, sql, type Transaction } from "kysely";
import { countTurns, planOf } from "../../test/conversations.ts";
import {
  datasetNameOf,
  digestBatch,
  momentOf,
  type RunGroup,
  type RunRecord,
  type StoredRun,
} from "../run_record.ts";
import { toNewTurn } from "../turns/turn_writer.ts";
import { ALL_TURN_COLUMNS, RECORD_COLUMNS, toRecord, toRunRow } from "./run_rows.ts";
import type { Tables } from "../schema/schema.ts";
import type { IdempotencyKey, KnownRun, NewRun, RunStore } from "../store.ts";

export interface RunCreationOptions {
  /** Milliseconds since 1970. */
  now: () => number;
  newId: () => string;
  /** Stores what belongs to a new run, in its transaction. */
  complete?: (transaction: Transaction<Tables>, id: string) => Promise<void>;
}

/** Stores new runs, one or those of a group, completely or not at all. */
export function createRunCreation(
  db: Kysely<Tables>,
  { now, newId, complete }: RunCreationOptions,
): Pick<RunStore, "createRun" | "createGroup"> {
  /** What takes time is done before the transaction, because others wait for it. */
  function prepare(run: NewRun, described: Parameters<typeof newStoredRun>[1]) {
    const stored = newStoredRun(run, described);
    return { run, stored, row: toRunRow(stored) };
  }

  type ReadyRun = ReturnType<typeof prepare>;

  /** `undefined` if all runs are stored, else what the key refers to already. */
  async function store(
    runs: ReadyRun[],
    { id, moment, idempotency }: {
      id: string;
      moment: number;
      idempotency: IdempotencyKey | undefined;
    },
  ): Promise<KnownRun | undefined> {
    return await db.transaction().execute(async (transaction) => {
      const known = await claimKey(transaction, idempotency, { id, moment });
      if (known) return known;
      for (const { run: { parentId, isRescore, written }, stored, row } of runs) {
        await transaction.insertInto("runs").values(row).execute();
        if (parentId !== undefined && !isRescore) {
          await copyAnswered(transaction, parentId, stored.id);
        }
        for (const [index, turn] of written?.turns.entries() ?? []) {
          const values = { ...toNewTurn(stored.id, turn), seq: index + 1 };
          await transaction.insertInto("turns").values(values).execute();
        }
        await complete?.(transaction, stored.id);
      }
      return undefined;
    });
  }

  async function findParent(parentId: string | undefined): Promise<RunRecord | undefined> {
    if (parentId === undefined) return undefined;
    const row = await db.selectFrom("runs").select(RECORD_COLUMNS).where("id", "=", parentId)
      .executeTakeFirst();
    return row && toRecord(row);
  }

  return {
    async createRun(run) {
      const id = run.written?.id ?? newId();
      const moment = run.written ? momentOf(id) : now();
      const parent = await findParent(run.parentId);
      // The conversations of a rescore are the same, also if it has other checks.
      const batchDigest = run.isRescore && parent ? parent.batchDigest : digestRequest(run.request);
      // A retry takes the place of the run that it retries.
      const group = run.isRescore ? null : parent?.group ?? null;
      const ready = prepare(run, { id, moment, batchDigest, group });
      const known = await store([ready], { id, moment, idempotency: run.idempotency });
      return known ?? { outcome: "created", id, run: ready.stored };
    },

    async createGroup({ runs, idempotency }) {
      const moment = now();
      const id = newId();
      const ready: ReadyRun[] = [];
      const pause = createYielder();
      const batchDigest = digestBatch(runs[0]!.request.test_batch); // all have the same
      for (const [index, { name, ...run }] of runs.entries()) {
        const group = { id, index, name };
        ready.push(prepare(run, { id: newId(), moment, batchDigest, group }));
        await pause(); // a request may have 8 MB
      }
      const known = await store(ready, { id, moment, idempotency });
      return known ?? { outcome: "created", id, runs: ready.map(({ stored }) => stored) };
    },
  };
}

/** The version of a dataset that has the replies, too: the batch of the run is without them. */
function digestRequest({ replies, dataset, test_batch }: NewRun["request"]): string {
  const version = replies && dataset?.split("@")[1];
  return version ?? digestBatch(test_batch);
}

/** A new run as it is stored: running, unless it was written elsewhere. */
function newStoredRun(
  { request, testName, parentId, written }: NewRun,
  { id, moment, batchDigest, group }: {
    id: string;
    moment: number;
    batchDigest: string;
    group: RunGroup | null;
  },
): StoredRun {
  return {
    id,
    parentId: parentId ?? null,
    status: written ? "completed" : "running",
    detail: null,
    testName,
    modelId: request.model_id,
    endpoint: request.endpoint ?? null,
    attempts: request.attempts,
    totalTurns: written?.turns.length ?? countTurns(planOf(request)),
    createdAt: moment,
    finishedAt: written ? moment : null,
    tally: null,
    batchDigest,
    datasetName: datasetNameOf(request),
    gate: null,
    group,
    request,
  };
}

/** How long an idempotency key refers to its run. */
const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Stores the key of a new run or group, or returns what the key already refers to. */
async function claimKey(
  transaction: Transaction<Tables>,
  idempotency: IdempotencyKey | undefined,
  { id, moment }: { id: string; moment: number },
): Promise<KnownRun | undefined> {
  if (!idempotency) return undefined;
  const { caller, key, bodyHash } = idempotency;
  await transaction.deleteFrom("caller_keys")
    .where("created_at", "<=", moment - KEY_LIFETIME_MS).execute();
  const known = await findKey(transaction, idempotency, moment);
  if (known) return known;
  const { numInsertedOrUpdatedRows } = await transaction.insertInto("caller_keys")
    .values({ caller, idempotency_key: key, body_hash: bodyHash, run_id: id, created_at: moment })
    .onConflict((conflict) => conflict.columns(["caller", "idempotency_key"]).doNothing())
    .executeTakeFirst();
  // Another process stored the key at the same moment; its transaction has ended by now.
  if (numInsertedOrUpdatedRows === 0n) return await findKey(transaction, idempotency, moment);
}

export async function findKey(
  db: Kysely<Tables>,
  { caller, key, bodyHash }: IdempotencyKey,
  moment: number,
): Promise<KnownRun | undefined> {
  const known = await db.selectFrom("caller_keys").selectAll()
    .where("idempotency_key", "=", key)
    .where("caller", "=", caller)
    .where("created_at", ">", moment - KEY_LIFETIME_MS)
    .executeTakeFirst();
  if (!known) return undefined;
  return { outcome: known.body_hash === bodyHash ? "known" : "mismatch", id: known.run_id };
}

/**
 * Copies the parent's turns up to the first failed one of each attempt. Later turns were asked
 * without the failed one in their history, so they do not fit the new conversation. A turn whose
 * `overall` is missing is not copied: its reply is read from the parent and scored again. Each copy
 * names the run that asked and paid for it.
 */
async function copyAnswered(
  transaction: Transaction<Tables>,
  parentId: string,
  id: string,
): Promise<void> {
  const [, ...columns] = ALL_TURN_COLUMNS;
  const kept = transaction.selectFrom("turns")
    .leftJoin(
      (failures) =>
        failures.selectFrom("turns as failed_turns")
          .select(({ fn }) => ["scenario", "attempt", fn.min("turn").as("first")])
          .where("run_id", "=", parentId)
          .where("failed", "=", 1)
          .groupBy(["scenario", "attempt"])
          .as("failures"),
      (join) =>
        join.onRef("failures.scenario", "=", "turns.scenario")
          .onRef("failures.attempt", "=", "turns.attempt"),
    )
    .select(({ val }) => [val(id).as("run_id")])
    .where("turns.run_id", "=", parentId)
    .where("turns.missing", "=", 0)
    .where((where) =>
      where.or([
        where("failures.first", "is", null),
        where("turns.turn", "<", where.ref("failures.first")),
      ])
    )
    .select(
      columns.map((column) =>
        column === "result" ? marked(parentId).as("result") : `turns.${column}` as const
      ),
    );
  await transaction.insertInto("turns").columns(ALL_TURN_COLUMNS).expression(kept).execute();
}

/** A turn's result with `copied_from_run`; one that the parent had copied too keeps its own. */
function marked(parentId: string) {
  const member = `{"copied_from_run":${JSON.stringify(parentId)},`;
  return sql<string>`case when turns.result like '{"copied_from_run":%' then turns.result
    else cast(${member} as text) || substr(turns.result, 2) end`;
}
