import { type Dialect, PostgresDialect } from "kysely";
import type { PostgresPool } from "../../../shared/postgres/pool.ts";

/** kysely's PostgreSQL dialect on our pool, which translates errors and closes broken connections. */
export function createPostgresDialect(pool: PostgresPool): Dialect {
  return new PostgresDialect({
    pool: {
      options: {},
      async connect() {
        const client = await pool.connect();
        return {
          // deno-lint-ignore no-explicit-any -- kysely's second overload is for cursors
          query: (text: any, values: readonly unknown[] = []): any =>
            client.query({ text, values }),
          release: () => client.release(),
        };
      },
      end: () => pool.end(),
    },
  });
}
