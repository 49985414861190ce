import { type JobQueue, openJobQueue } from "../../eval/sharing/job_queue.ts";
import { openPostgres } from "../../eval/store/postgres/open_postgres.ts";
import type { PostgresServer } from "./postgres_server.ts";
import { evaluateRequest } from "./stored_runs.ts";

/** A store on an empty database, with the queues of its runs. */
export async function openWithQueues(server: PostgresServer, { maxConnections = 4 } = {}) {
  let queues!: JobQueue;
  const database = await openPostgres({
    address: await server.createDatabase(),
    maxConnections,
    createWorkList: async (pool) => queues = await openJobQueue(pool, { onError: () => {} }),
  });
  return {
    ...database,
    queues,
    async [Symbol.asyncDispose]() {
      await queues.close();
      await database.store.close();
    },
  };
}

/** The same with a run of so many conversations. */
export async function openQueuedRun(
  server: PostgresServer,
  { scenarios, attempts = 1 }: { scenarios: number; attempts?: number },
) {
  const opened = await openWithQueues(server);
  const { store, pool, queues } = opened;
  const request = evaluateRequest({ scenarios, attempts });
  const { id } = await store.createRun({ request, testName: "t" });
  return {
    id,
    parentId: null,
    request,
    store,
    queues,
    queue: (await store.queueOf(id))!,
    query: async (text: string) => (await pool.query<Record<string, unknown>>({ text })).rows,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}
