import type { PostgresPool } from "../../shared/service/postgres/pool.ts";

/**
 * The channel of each kind of news, and how long news are gathered for one statement. A notification
 * wakes the listening connections of all processes, so news that can wait is sent less often.
 */
const KINDS = {
  /** A run was created or has ended, or its last turn is stored. */
  state: { channel: "assay_runs", gatherMs: 20 },
  /** Further turns of a run are stored. */
  turns: { channel: "assay_turns", gatherMs: 250 },
};
/** PostgreSQL limits a payload to 8,000 bytes; an id has 36. */
const IDS_PER_PAYLOAD = 200;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5_000;
const HEARTBEAT_MS = 10_000;

export type NewsKind = keyof typeof KINDS;

/** Also called with this process's own news. `runId` is `undefined` if news may have been lost. */
export type NewsListener = (runId: string | undefined, kind: NewsKind) => void;

export type RunNews = ReturnType<typeof createRunNews>;

type Connection = Awaited<ReturnType<PostgresPool["connectAlone"]>>;

/**
 * Tells processes that a run has changed. News may be lost: they only make a process read the tables
 * sooner.
 */
export function createRunNews(pool: PostgresPool) {
  const listeners: NewsListener[] = [];
  const tellers = { state: createTeller(pool, "state"), turns: createTeller(pool, "turns") };
  let client: Connection | undefined;
  let reconnecting: ReturnType<typeof setTimeout> | undefined;
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  let isClosed = false;
  let failures = 0;

  const announce: NewsListener = (runId, kind) =>
    listeners.forEach((listener) => listener(runId, kind));

  async function connect(): Promise<void> {
    if (isClosed) return;
    let connected: Connection | undefined;
    try {
      connected = await pool.connectAlone(lose);
      connected.on("notification", ({ channel, payload = "" }) => {
        const kind = channel === KINDS.turns.channel ? "turns" : "state";
        for (const runId of payload.split(",")) announce(runId, kind);
      });
      for (const { channel } of Object.values(KINDS)) await connected.query(`listen ${channel}`);
      if (isClosed) return void await connected.end();
      failures = 0;
      keep(client = connected);
      announce(undefined, "state");
    } catch {
      connected?.end().catch(() => {});
      reconnect();
    }
  }

  /** Notices a connection that is lost silently. */
  function keep(kept: Connection): void {
    heartbeat = setInterval(() => kept.query("select 1").catch(() => lose(kept)), HEARTBEAT_MS);
  }

  function lose(lost: Connection): void {
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
    tell: (runId: string, kind: NewsKind) => tellers[kind].tell(runId),
    listen(onNews: NewsListener): void {
      listeners.push(onNews);
      if (listeners.length === 1) connect();
    },
    async close(): Promise<void> {
      isClosed = true;
      for (const teller of Object.values(tellers)) teller.stop();
      clearTimeout(reconnecting);
      clearInterval(heartbeat);
      await client?.end().catch(() => {});
    },
  };
}

/** Sends the news of one kind. */
function createTeller(pool: PostgresPool, kind: NewsKind) {
  const { channel, gatherMs } = KINDS[kind];
  const gathered = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function send(): void {
    timer = undefined;
    const ids = [...gathered];
    gathered.clear();
    for (let from = 0; from < ids.length; from += IDS_PER_PAYLOAD) {
      const payload = ids.slice(from, from + IDS_PER_PAYLOAD).join(",");
      pool.query({ name: "notify", text: "select pg_notify($1, $2)", values: [channel, payload] })
        .catch(() => {}); // other processes read the tables anyway, only later
    }
  }

  return {
    tell(runId: string): void {
      gathered.add(runId);
      timer ??= setTimeout(send, gatherMs);
    },
    stop: () => clearTimeout(timer),
  };
}
