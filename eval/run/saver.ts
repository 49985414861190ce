import type { ReceivedReply, RecordedTurn, RunStore, StoredTurn } from "../store/store.ts";
import { isStorageFault } from "../store/store_fault.ts";

/** Stores replies and turns. Keeps in memory what could not be stored, because it is paid for. */
export interface Saver {
  saveTurn(runId: string, turn: StoredTurn): Promise<RecordedTurn>;
  saveReply(runId: string, reply: ReceivedReply, options: { isUrgent: boolean }): Promise<void>;
  /** Stores what was kept: at most what was being stored when the storage failed. */
  saveKept(runId: string): Promise<void>;
  forget(runId: string): void;
}

export function createSaver(store: RunStore): Saver {
  const kept = new Map<string, { turns: StoredTurn[]; replies: ReceivedReply[] }>();

  function keptOf(runId: string) {
    let known = kept.get(runId);
    if (!known) kept.set(runId, known = { turns: [], replies: [] });
    return known;
  }

  return {
    async saveTurn(runId, turn) {
      try {
        return await store.recordTurn(runId, turn);
      } catch (error) {
        if (isStorageFault(error)) keptOf(runId).turns.push(turn);
        throw error;
      }
    },
    async saveReply(runId, reply, options) {
      try {
        await store.recordReply(runId, reply, options);
      } catch (error) {
        if (isStorageFault(error)) keptOf(runId).replies.push(reply);
        throw error;
      }
    },
    async saveKept(runId) {
      const { turns, replies } = keptOf(runId);
      for (const turn of turns) await store.recordTurn(runId, turn);
      for (const reply of replies) await store.recordReply(runId, reply, { isUrgent: true });
      kept.delete(runId);
    },
    forget: (runId) => void kept.delete(runId),
  };
}
