import type { PostgresPool } from "../../../shared/service/postgres/pool.ts";
import type { PaceBoard } from "../../ask/pace.ts";

/** How often the limits of others are read while this process calls endpoints. */
const READ_MS = 500;
/** Older limits say nothing about an endpoint any more. */
const FRESH_SECONDS = 30;

interface PaceRow {
  origin: string;
  concurrency: number;
  changed: number;
}

/** Limits in the table `endpoint_paces`, which holds the latest 429 of each origin. */
export function createPaceBoard(pool: PostgresPool): PaceBoard & { stop(): void } {
  const self = crypto.randomUUID();
  const seen = new Map<string, number>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let isReading = false;

  async function read(origins: string[]): Promise<PaceRow[]> {
    const { rows } = await pool.query<PaceRow>({
      name: "read_paces",
      text: `select origin, concurrency, extract(epoch from changed_at)::float8 as changed
        from endpoint_paces
        where origin = any($1::text[]) and changed_by <> $2
          and changed_at > now() - make_interval(secs => ${FRESH_SECONDS})`,
      values: [origins, self],
    });
    return rows.filter(({ origin, changed }) => (seen.get(origin) ?? 0) < changed);
  }

  return {
    tell(origin, limit) {
      pool.query({
        name: "tell_pace",
        text: `insert into endpoint_paces (origin, concurrency, changed_by, changed_at)
          values ($1, $2, $3, clock_timestamp())
          on conflict (origin) do update set concurrency = excluded.concurrency,
            changed_by = excluded.changed_by, changed_at = excluded.changed_at`,
        values: [origin, limit, self],
      }).catch(() => {}); // the endpoint answers 429 to the other processes, too
    },
    listen(origins, onLowered) {
      timer = setInterval(async () => {
        const called = [...origins()];
        if (called.length === 0 || isReading) return;
        isReading = true;
        try {
          for (const { origin, concurrency, changed } of await read(called)) {
            seen.set(origin, changed);
            onLowered(origin, concurrency);
          }
        } catch {
          // read again later
        } finally {
          isReading = false;
        }
      }, READ_MS);
    },
    stop: () => clearInterval(timer),
  };
}
