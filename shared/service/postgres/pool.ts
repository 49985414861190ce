// @ts-types="@types/pg"
import type pg from "pg";
import { isConnectionFault, isConnectionLimit, toDatabaseError } from "./fault.ts";

/** A result of `pg`, as far as it is used. */
interface PostgresResult<R> {
  rows: R[];
  rowCount: number | null;
  command: string;
}

interface Statement {
  text: string;
  values?: readonly unknown[];
  /** Prepares the statement once per connection. */
  name?: string;
}

/** Connections to one PostgreSQL. Every method throws as `toDatabaseError` says. */
export interface PostgresPool {
  query<R = unknown>(statement: Statement): Promise<PostgresResult<R>>;
  /** A connection of its own until it is released; for transactions. */
  connect(): Promise<PostgresClient>;
  /** A further connection outside the pool: for `LISTEN`. */
  connectAlone(onLost: (client: pg.Client) => void): Promise<pg.Client>;
  end(): Promise<void>;
}

interface PostgresClient {
  query<R = unknown>(statement: Statement): Promise<PostgresResult<R>>;
  /** Gives the connection back; one that failed is closed. */
  release(): void;
  /**
   * Rolls back a transaction that several statements in one text began and left open because one of
   * them failed. Otherwise every later statement on the connection would fail. Never rejects.
   */
  rollBack(): Promise<void>;
}

interface PoolOptions {
  /** `postgres://…`. `sslmode` has the meaning that it has in libpq. */
  address: string;
  /** The largest number of connections. */
  max: number;
  /** Shown in `pg_stat_activity`. */
  name: string;
  /** Limit of one statement; none if it is 0. 20,000 if unset. */
  timeoutMs?: number;
  /** Called if an idle connection is lost, for example because the server restarts. */
  onError?: (error: Error) => void;
}

const CONNECT_MS = 5_000;
const TIMEOUT_MS = 20_000;
/** How long no further connection is requested after the server reported its limit. */
const LIMIT_REACHED_MS = 5_000;
/** With fewer connections, work that needs a second one could deadlock. */
const FEWEST = 2;
/** How often to check whether pending connections were accepted. */
const LOOK_AGAIN_MS = 10;
/** Extra time for a connection, compared with a refusal. */
const SPARE_MS = 100;
/** What the driver says if no connection became free in time. */
const NONE_FREE = /timeout exceeded when trying to connect/;
const BIGINT = 20;

/** Loads `pg` when it is called, so that a service without PostgreSQL never does. */
export async function createPostgresPool(options: PoolOptions): Promise<PostgresPool> {
  const { address, max, name, timeoutMs = TIMEOUT_MS, onError = () => {} } = options;
  // @ts-types="@types/pg"
  const { default: driver } = await import("pg");
  driver.types.setTypeParser(BIGINT, Number); // all of ours are below 2^53
  const config = {
    connectionString: withLibpqModes(address),
    application_name: name,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    ...(timeoutMs > 0 && { query_timeout: timeoutMs }),
  };
  // Not as a parameter of the connection, which PgBouncer refuses.
  const limitStatements = (client: pg.Client) =>
    client.query(`set statement_timeout = ${Number(timeoutMs)}`);
  const pool = new driver.Pool({
    ...config,
    max,
    verify: (client, done) => void limitStatements(client).then(() => done(), done),
  });
  // Without a listener it would end the process.
  pool.on("error", (error) => onError(toDatabaseError(error) as Error));
  // So would an error that arrives together with the server's acceptance: the pool has handed out the
  // connection by then, and its user does not listen yet. The next statement fails.
  pool.on("connect", (client) => client.on("error", () => {}));

  let established = 0; // `totalCount` also counts those that are being made
  pool.on("connect", () => established++);
  pool.on("remove", () => established--);
  let refusal: { error: unknown; until: number } | undefined;
  const currentRefusal = () => refusal && performance.now() < refusal.until ? refusal : undefined;

  /** While the server accepts no further connection, callers share the existing ones. */
  async function take(): Promise<pg.PoolClient> {
    const deadline = performance.now() + CONNECT_MS;
    while (true) {
      const asked = performance.now();
      const known = currentRefusal();
      pool.options.max = known && established >= FEWEST ? established : max;
      try {
        return await pool.connect();
      } catch (error) {
        const reason = known ?? currentRefusal();
        if (reason && NONE_FREE.test((error as Error).message)) throw reason.error;
        if (!isConnectionLimit(error)) throw error;
        // Others that were requested at the same time may still be accepted, after about as long.
        const patience = 2 * performance.now() - asked + SPARE_MS;
        while (
          established < FEWEST && pool.totalCount > established && performance.now() < patience
        ) await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
        if (established < FEWEST || performance.now() >= deadline) throw error;
        refusal = { error, until: performance.now() + LIMIT_REACHED_MS };
      }
    }
  }

  async function connect(): Promise<PostgresClient> {
    const client = await translate(take);
    let fault: Error | undefined;
    const note = (error: Error) => fault ??= error;
    client.on("error", note); // the pool does not listen while the connection is taken
    return {
      query: ({ text, values = [], name }) =>
        translate(async () => {
          try {
            const statement = {
              text,
              values: values.map(withoutNul),
              ...(name !== undefined && { name }),
            };
            // deno-lint-ignore no-explicit-any -- the caller knows the rows of its statement
            return await client.query<any>(statement);
          } catch (error) {
            if (isConnectionFault(error)) note(error as Error);
            throw error;
          }
        }),
      async rollBack() {
        if (fault) return; // it is closed
        try {
          await client.query("rollback");
        } catch (error) {
          note(error as Error);
        }
      },
      release() {
        client.off("error", note);
        client.release(fault);
      },
    };
  }

  return {
    connect,
    async query(statement) {
      const client = await connect();
      try {
        return await client.query(statement);
      } catch (error) {
        await client.rollBack();
        throw error;
      } finally {
        client.release();
      }
    },
    connectAlone: (onLost) =>
      translate(async () => {
        const client = new driver.Client(config);
        for (const event of ["error", "end"] as const) client.on(event, () => onLost(client));
        await client.connect();
        await limitStatements(client);
        return client;
      }),
    end: () => pool.end(),
  };
}

/** PostgreSQL's texts cannot contain U+0000. JSON texts contain it escaped only. */
function withoutNul(value: unknown): unknown {
  return typeof value === "string" && value.includes("\0")
    ? value.replaceAll("\0", "\ufffd")
    : value;
}

async function translate<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toDatabaseError(error);
  }
}

/** `pg` reads `sslmode=require` as `verify-full` unless it is told to read it as libpq does. */
function withLibpqModes(address: string): string {
  const url = new URL(address);
  if (url.searchParams.has("sslmode")) url.searchParams.set("uselibpqcompat", "true");
  return url.href;
}

/** Rounds of the check: a pooler may give two clients different connections by chance. */
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
