import type { RecordedTurn, RunStore } from "../../store/store.ts";
import type { ReceivedReply, StoredTurn } from "../../store/turns/turn_record.ts";
import { isStorageFault } from "../../store/store_fault.ts";

/** Stores replies and turns. Keeps in memory what could not be stored, because it is paid for. */
export interface Saver {
  saveTurn(runId: string, turn: StoredTurn): Promise<RecordedTurn>;
  saveReply(runId: string, reply: ReceivedReply, options: { isUrgent: boolean }): Promise<void>;
  /**
   * Stores what was kept: at most what was being stored when the storage failed. Waits for replies
   * that are still being stored, so that they are found.
   */
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

  /** Replies that are being stored: that may fail after their run has ended. */
  const underWay = new Map<string, Set<Promise<void>>>();

  function track(runId: string, storing: Promise<void>): void {
    const all = underWay.get(runId) ?? new Set();
    underWay.set(runId, all.add(storing));
    const remove = () => {
      all.delete(storing);
      if (all.size === 0) underWay.delete(runId);
    };
    storing.then(remove, remove);
  }

  async function storeReply(
    runId: string,
    reply: ReceivedReply,
    options: { isUrgent: boolean },
  ): Promise<void> {
    try {
      await store.recordReply(runId, reply, options);
    } catch (error) {
      if (isStorageFault(error)) keptOf(runId).replies.push(reply);
      throw error;
    }
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
    saveReply(runId, reply, options) {
      const storing = storeReply(runId, reply, options);
      track(runId, storing);
      return storing;
    },
    async saveKept(runId) {
      await Promise.allSettled(underWay.get(runId) ?? []);
      const { turns, replies } = keptOf(runId);
      for (const turn of turns) await store.recordTurn(runId, turn);
      for (const reply of replies) await store.recordReply(runId, reply, { isUrgent: true });
      kept.delete(runId);
    },
    forget: (runId) => void kept.delete(runId),
  };
}
