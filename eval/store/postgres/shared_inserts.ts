import type { PostgresPool } from "../../../shared/postgres/pool.ts";
import type { TurnPosition } from "../turns/turn_record.ts";
import type { InsertTurns, NewTurn } from "../turns/turn_writer.ts";

/**
 * Locks the run, numbers the turns and stores them, all in one statement. The lock is held until the
 * turns are committed, so that turns of several processes become visible in the order of their
 * numbers. Nothing is stored for a run that has ended: its tally is final.
 */
const INSERT_TURNS = `
  with locked as (
    update runs set last_seq = last_seq + $2
    where id = $1 and status = 'running'
    returning last_seq - $2 as base, last_seq >= total_turns as may_be_last
  ), stored as (
    insert into turns
      (run_id, scenario, attempt, turn, seq, failed, missing, overall, took_ms, result, facets)
    select $1, t.scenario, t.attempt, t.turn, locked.base + t.place, t.failed, t.missing, t.overall,
      t.took_ms, t.result, t.facets::json
    from locked, unnest($3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::float8[],
      $9::int[], $10::text[], $11::text[]) with ordinality
      as t (scenario, attempt, turn, failed, missing, overall, took_ms, result, facets, place)
    on conflict (run_id, scenario, attempt, turn) do nothing
    returning scenario, attempt, turn
  )
  select scenario, attempt, turn, may_be_last as "mayBeLast" from stored, locked`;

type StoredPosition = TurnPosition & { mayBeLast: boolean };

/** Calls `onStored` with the runs that have new turns; `mayBeLast` if none may be left. */
export function createSharedTurnInsert(
  pool: PostgresPool,
  onStored: (runId: string, how: { mayBeLast: boolean }) => void,
): InsertTurns {
  async function insertOf(runId: string, turns: NewTurn[]): Promise<Set<string>> {
    const column = (name: keyof NewTurn) => turns.map((turn) => turn[name]);
    const { rows } = await pool.query<StoredPosition>({
      name: "insert_turns",
      text: INSERT_TURNS,
      values: [
        runId,
        turns.length,
        column("scenario"),
        column("attempt"),
        column("turn"),
        column("failed"),
        column("missing"),
        column("overall"),
        column("took_ms"),
        column("result"),
        column("facets"),
      ],
    });
    if (rows[0]) onStored(runId, rows[0]);
    return new Set(rows.map(positionOf));
  }

  return async (turns) => {
    const byRun = Map.groupBy(turns, ({ run_id }) => run_id);
    const stored = new Map(
      await Promise.all(
        [...byRun].map(async ([runId, own]) => [runId, await insertOf(runId, own)] as const),
      ),
    );
    return turns.map((turn) => stored.get(turn.run_id)!.delete(positionOf(turn)));
  };
}

function positionOf({ scenario, attempt, turn }: TurnPosition): string {
  return `${scenario}/${attempt}/${turn}`;
}
