import { type Conversation, mergeConversations } from "./conversation.ts";

const STORE = "conversations";

/**
 * The conversations, kept in a database of this browser. Rejects if the browser does not allow one,
 * as in some private windows.
 */
export async function openConversationStore() {
  const opening = indexedDB.open("assay-chat", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: "id" });
  const database = await settled(opening);
  const store = (mode: IDBTransactionMode) => database.transaction(STORE, mode).objectStore(STORE);

  return {
    /** All of them, the one that changed last first. */
    async list() {
      const all: Conversation[] = await settled(store("readonly").getAll());
      return all.toSorted((a, b) => b.changedAt - a.changedAt);
    },
    read: (id: string): Promise<Conversation | undefined> => settled(store("readonly").get(id)),
    /** Keeps what another tab has added to the same conversation. */
    async save(conversation: Conversation) {
      const objects = store("readwrite");
      const stored: Conversation | undefined = await settled(objects.get(conversation.id));
      const merged = stored ? mergeConversations(stored, conversation) : conversation;
      await settled(objects.put(merged));
    },
    /** Adds new ones: all, or none if one cannot be kept. */
    add(conversations: Conversation[]): Promise<void> {
      const transaction = database.transaction(STORE, "readwrite");
      const objects = transaction.objectStore(STORE);
      for (const conversation of conversations) objects.put(conversation);
      return new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
      });
    },
    async delete(id: string) {
      await settled(store("readwrite").delete(id));
    },
  };
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
