/** What the database's thread is told. `id` comes back with the reply. */
export type WorkerRequest = { id: number } & WorkerCommand;

export type WorkerCommand =
  | {
    kind: "open";
    path: string;
    mode: "write" | "read";
    maxPages?: number;
    busyTimeoutMs?: number;
  }
  | { kind: "query"; sql: string; parameters: readonly unknown[] }
  /** Fails if the path no longer names the open file. */
  | { kind: "requireInPlace" }
  /** Frees room on a full disk, so that something can be deleted; `keepRoom` takes it again. */
  | { kind: "makeRoom" }
  | { kind: "keepRoom" }
  | { kind: "close" };

export type WorkerReply =
  | { id: number; rows: unknown[]; changes: number }
  | { id: number; error: WorkerFault };

/** An error on its way between threads. */
export interface WorkerFault {
  name: string;
  message: string;
  /** SQLite's extended result code; `null` for a fault that is not SQLite's. */
  sqliteCode: number | null;
}
