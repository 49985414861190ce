import { createPostgresPool } from "../../shared/service/postgres/pool.ts";

/** What the tables contain, read without the service. */
export interface StoredFigures {
  turns: number;
  positions: number;
  seqs: number;
  orphans: number;
  statuses: Record<string, number>;
}

export async function readFigures(address: string): Promise<StoredFigures> {
  const pool = await createPostgresPool({ address, max: 1, name: "test" });
  try {
    const { rows: [row] } = await pool.query<Omit<StoredFigures, "statuses">>({
      text: `select count(*)::int as turns,
          count(distinct (run_id, scenario, attempt, turn))::int as positions,
          count(distinct (run_id, seq))::int as seqs,
          count(*) filter (where not exists (select 1 from runs where id = run_id))::int as orphans
        from turns`,
    });
    const { rows } = await pool.query<{ status: string; runs: number }>({
      text: "select status, count(*)::int as runs from runs group by status",
    });
    const statuses = Object.fromEntries(rows.map(({ status, runs }) => [status, runs]));
    return { ...row!, statuses };
  } finally {
    await pool.end();
  }
}
