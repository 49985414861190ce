import type { Logger } from "../../log.ts";
import type { RefusalReason } from "./connection_limit.ts";

const INTERVAL_MS = 10_000;

/** Logs refused connections: the first at once, then one line per interval with their number. */
export function createRefusalLog(
  log: Logger,
  { open, intervalMs = INTERVAL_MS }: { open: () => number; intervalMs?: number },
): (reason: RefusalReason) => void {
  let refused: Record<RefusalReason, number> = { total: 0, address: 0 };
  let timer: ReturnType<typeof setTimeout> | undefined;

  function write(): void {
    const { total, address } = refused;
    timer = undefined;
    if (total + address === 0) return;
    refused = { total: 0, address: 0 };
    log.warn("connections were refused: too many are open (MAX_CONNECTIONS)", {
      open: open(),
      over_total: total,
      over_address: address,
    });
    timer = setTimeout(write, intervalMs);
    Deno.unrefTimer(timer);
  }

  return (reason) => {
    refused[reason]++;
    if (timer === undefined) write();
  };
}
