import type { RecordedTurn, RunStore } from "../../store/store.ts";
import type { StoredTurn } from "../../store/turns/turn_record.ts";
import { isStorageFault } from "../../store/store_fault.ts";

/** Stores turns. Keeps in memory those that could not be stored, because they are paid for. */
export interface Saver {
  save(runId: string, turn: StoredTurn): Promise<RecordedTurn>;
  /** Stores what was kept: at most what was being stored when the storage failed. */
  saveKept(runId: string): Promise<void>;
  forget(runId: string): void;
}

export function createSaver(store: RunStore): Saver {
  const kept = new Map<string, StoredTurn[]>();
  return {
    async save(runId, turn) {
      try {
        return await store.recordTurn(runId, turn);
      } catch (error) {
        if (isStorageFault(error)) kept.set(runId, [...kept.get(runId) ?? [], turn]);
        throw error;
      }
    },
    async saveKept(runId) {
      for (const turn of kept.get(runId) ?? []) await store.recordTurn(runId, turn);
      kept.delete(runId);
    },
    forget: (runId) => void kept.delete(runId),
  };
}
