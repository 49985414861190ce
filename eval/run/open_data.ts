import type { RateLimiter } from "../../shared/http/rate_limit.ts";
import type { Logger } from "../../shared/service/log.ts";
import { isPostgresAddress } from "../../shared/service/postgres/address.ts";
import type { EvalConfig } from "../config.ts";
import type { PaceBoard } from "../ask/pace.ts";
import type { Sharing } from "./manager/shared_runs.ts";
import type { SharedFigures } from "./sharing/open_sharing.ts";
import { openStore } from "../store/open_store.ts";
import type { RunStore } from "../store/store.ts";

/** Where runs are kept; `sharing` is set if other processes may work on them too. */
export interface OpenedData {
  store: RunStore;
  sharing?: Sharing;
  figures?: SharedFigures;
  board?: PaceBoard;
  /** Counts the requests of all processes for `RATE_LIMIT`. */
  limiter?: RateLimiter | undefined;
}

interface OpenDataOptions {
  log: Logger;
  /** True for the command line: its runs are its own, and it joins no other. */
  isExclusive?: boolean;
}

/** Of one instance to its PostgreSQL; a server that accepts fewer is no fault. */
const MAX_CONNECTIONS = 10;

/** Opens `EVAL_DATA`: PostgreSQL if it is an address of one, else an SQLite file. */
export async function openData(
  {
    EVAL_DATA: data,
    RATE_LIMIT: rate,
    EVAL_CONCURRENCY: concurrency,
  }: EvalConfig,
  { log, isExclusive = false }: OpenDataOptions,
): Promise<OpenedData> {
  if (!isPostgresAddress(data)) return { store: await openStore({ path: data }) };
  const { openSharing } = await import("./sharing/open_sharing.ts");
  const { pool, ...opened } = await openSharing({
    address: data,
    maxConnections: MAX_CONNECTIONS,
    concurrency,
    log,
    isExclusive,
  });
  if (!rate) return opened;
  const { createPostgresLimiter } = await import("../../shared/service/postgres/rate_limiter.ts");
  return { ...opened, limiter: await createPostgresLimiter({ pool, rate, service: "eval", log }) };
}
