import type { PostgresPool } from "./pool.ts";

/** A pooler may give two clients different connections by chance. */
const ROUNDS = 3;

/**
 * Throws if a pooler gives each transaction another connection, as PgBouncer does in transaction
 * mode: `LISTEN`, prepared statements and locks of a session would fail later, in the middle of a
 * run.
 */
export async function requireSessions(pool: PostgresPool): Promise<void> {
  const clients = [
    await pool.connectAlone(() => {}),
    await pool.connectAlone(() => {}),
  ] as const;
  const processOf = async (client: (typeof clients)[number]) => {
    const { rows: [row] } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    return row!.pid;
  };
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const [one, other] = round % 2 === 0 ? clients : [clients[1], clients[0]];
      const before = await processOf(one);
      await other.query("begin"); // holds the connection that `one` had, if it is shared
      const isShared = await processOf(other) === before || await processOf(one) !== before;
      await other.query("rollback");
      if (isShared) throw new Error(SHARED);
    }
  } finally {
    for (const client of clients) await client.end().catch(() => {});
  }
}

const SHARED = "a pooler before it shares connections between sessions, as PgBouncer does with " +
  "pool_mode=transaction; set pool_mode=session, or connect to PostgreSQL itself";
