import type { PostgresPool } from "../../../shared/postgres/pool.ts";

const CHANNEL = "assay_runs";
/** News of this time share one statement. */
const GATHER_MS = 20;
/** PostgreSQL limits a payload to 8,000 bytes; an id has 36. */
const IDS_PER_PAYLOAD = 200;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5_000;
const HEARTBEAT_MS = 10_000;

/**
 * Tells processes that a run has changed. News may be lost, so they only make a process look sooner:
 * the tables are the truth.
 */
export interface RunNews {
  tell(runId: string): void;
  /** `onNews` gets the run, also if this process told it; `undefined` if news may have been lost. */
  listen(onNews: (runId: string | undefined) => void): void;
  close(): Promise<void>;
}

type Listener = Awaited<ReturnType<PostgresPool["connectAlone"]>>;

export function createRunNews(pool: PostgresPool): RunNews {
  const listeners: ((runId: string | undefined) => void)[] = [];
  const gathered = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let client: Listener | undefined;
  let reconnecting: ReturnType<typeof setTimeout> | undefined;
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  let isClosed = false;
  let failures = 0;

  const announce = (runId: string | undefined) => listeners.forEach((listener) => listener(runId));

  function send(): void {
    timer = undefined;
    const ids = [...gathered];
    gathered.clear();
    for (let from = 0; from < ids.length; from += IDS_PER_PAYLOAD) {
      const payload = ids.slice(from, from + IDS_PER_PAYLOAD).join(",");
      pool.query({ text: "select pg_notify($1, $2)", values: [CHANNEL, payload] })
        .catch(() => {}); // the others look by themselves, only later
    }
  }

  async function connect(): Promise<void> {
    if (isClosed) return;
    try {
      const connected = await pool.connectAlone(lose);
      if (isClosed) return void await connected.end();
      connected.on("notification", ({ payload = "" }) => payload.split(",").forEach(announce));
      await connected.query(`listen ${CHANNEL}`);
      client = connected;
      failures = 0;
      heartbeat = setInterval(() => {
        connected.query("select 1").catch(() => lose(connected)); // a silent loss of the connection
      }, HEARTBEAT_MS);
      announce(undefined);
    } catch {
      reconnect();
    }
  }

  function lose(lost: Listener): void {
    if (client !== lost || isClosed) return;
    client = undefined;
    clearInterval(heartbeat);
    lost.end().catch(() => {});
    reconnect();
  }

  function reconnect(): void {
    if (isClosed) return;
    clearTimeout(reconnecting);
    const delay = Math.min(FIRST_DELAY_MS * 2 ** failures++, LONGEST_DELAY_MS);
    reconnecting = setTimeout(connect, delay);
  }

  return {
    tell(runId) {
      gathered.add(runId);
      timer ??= setTimeout(send, GATHER_MS);
    },
    listen(onNews) {
      listeners.push(onNews);
      if (listeners.length === 1) connect();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(reconnecting);
      clearInterval(heartbeat);
      await client?.end().catch(() => {});
    },
  };
}
