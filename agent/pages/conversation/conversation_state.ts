import { computed, signal } from "@preact/signals";
import { navigate } from "../../../shared/pages/location.ts";
import { keepChoice, readChoice } from "../../../shared/pages/storage.ts";
import {
  answerText,
  type Conversation,
  DEFAULT_SETTINGS,
  mergeConversations,
  type Settings,
  titleOf,
  withCutAnswers,
} from "./conversation.ts";
import { openConversationStore } from "./conversation_store.ts";
import { chosenModels } from "../model_state.ts";
import {
  type Change,
  type ConversationEntry,
  followOtherTabs,
  isBeingAnswered,
  tellOtherTabs,
} from "./other_tabs.ts";

/** The conversations that were opened since the page was loaded. */
const opened = signal<Record<string, Conversation>>({});

/** The conversation of the address, also if it is not in this browser; `undefined` for a new one. */
export const currentId = signal<string | undefined>(undefined);

/** The conversation that is shown; `undefined` for a new one. */
export const current = computed(() => opened.value[currentId.value ?? ""]);

/** All conversations, newest first; `undefined` until they have been read. */
export const entries = signal<ConversationEntry[] | undefined>(undefined);

/** The address names a conversation that is not in this browser. */
export const isMissing = signal(false);

/** The browser does not keep conversations: they last until the page is closed. */
export const isForgetful = signal(false);

const newSettings = signal<Settings>(DEFAULT_SETTINGS);

/** The settings of the shown conversation, or of the next one. */
export const settings = computed(() => current.value?.settings ?? newSettings.value);

/** The models of the shown conversation, or of the next one. */
export const activeModels = computed(() => current.value?.models ?? chosenModels.value);

let opening: ReturnType<typeof openConversationStore> | undefined;

function openStore() {
  return opening ??= openConversationStore().then(async (store) => {
    for (const conversation of readChoice<Conversation[]>(UNSAVED) ?? []) {
      await store.save(conversation);
    }
    keepChoice(UNSAVED, []);
    return store;
  });
}

/** Reads the conversations of this browser, and follows what other tabs do to them. */
export async function loadConversations(): Promise<void> {
  followOtherTabs(takeOver);
  newSettings.value = { ...DEFAULT_SETTINGS, ...readChoice<Settings>("settings") };
  try {
    const stored = (await (await openStore()).list()).map(toEntry);
    const meanwhile = entries.value ?? [];
    entries.value = stored;
    meanwhile.forEach(list);
  } catch {
    isForgetful.value = true;
    entries.value ??= [];
  }
}

function takeOver(change: Change): void {
  if ("deleted" in change) {
    isMissing.value ||= currentId.value === change.deleted;
    forget(change.deleted);
    return unlist(change.deleted);
  }
  list(change.saved);
  if (opened.value[change.saved.id]) void followOtherTab(change.saved.id);
}

function list(entry: ConversationEntry): void {
  unlist(entry.id);
  entries.value = [entry, ...entries.value!].toSorted((a, b) => b.changedAt - a.changedAt);
}

function unlist(id: string): void {
  entries.value = (entries.value ?? []).filter((entry) => entry.id !== id);
}

/** Shows the conversation of an address, or a new one. */
export async function showConversation(id: string | undefined): Promise<void> {
  currentId.value = id;
  isMissing.value = false;
  if (!id || opened.value[id]) return;
  await openFromStore(id);
  isMissing.value = currentId.value === id && !opened.value[id];
}

/** Keeps a new conversation and shows it at its own address. */
export function addConversation(conversation: Conversation): void {
  opened.value = { ...opened.value, [conversation.id]: conversation };
  currentId.value = conversation.id;
  void saveConversation(conversation.id);
  navigate(`/ui/c/${conversation.id}`);
}

/** Changes a conversation, also one that is not shown at the moment. */
export function updateConversation(id: string, change: (before: Conversation) => Conversation) {
  const before = opened.value[id];
  if (!before) return;
  opened.value = { ...opened.value, [id]: change(before) };
  scheduleSave(id);
}

/** The newest state of a conversation that was opened. */
export function readConversation(id: string): Conversation | undefined {
  return opened.value[id];
}

const SAVE_EVERY_MS = 400;
const waiting = new Map<string, ReturnType<typeof setTimeout>>();
/** Conversations whose newest state is not stored yet. */
const unsaved = new Map<string, Conversation>();

/** Changes that come in quick succession are saved together. */
function scheduleSave(id: string): void {
  unsaved.set(id, opened.value[id]!);
  if (waiting.has(id)) return;
  waiting.set(id, setTimeout(() => saveConversation(id), SAVE_EVERY_MS));
}

/** Saves it now, with what waited to be saved. */
export async function saveConversation(id: string): Promise<void> {
  clearTimeout(waiting.get(id));
  waiting.delete(id);
  const conversation = opened.value[id];
  if (!conversation) return;
  list(toEntry(conversation));
  unsaved.set(id, conversation);
  try {
    await (await openStore()).save(conversation);
    tellOtherTabs({ saved: toEntry(conversation) });
  } catch {
    isForgetful.value = true;
  }
  if (unsaved.get(id) === conversation) unsaved.delete(id);
}

const UNSAVED = "unsaved";

/**
 * Keeps what is not saved yet while the page is being closed. The database would take too long; it
 * gets these conversations when the page is opened again.
 */
export function keepUnsaved(): void {
  if (unsaved.size > 0) keepChoice(UNSAVED, [...unsaved.values()]);
}

export async function renameConversation(id: string, title: string): Promise<void> {
  await openFromStore(id);
  updateConversation(id, (before) => ({ ...before, title: title.trim() }));
  await saveConversation(id);
}

export async function deleteConversation(id: string): Promise<void> {
  forget(id);
  if (currentId.value === id) navigate("/");
  await openStore().then((store) => store.delete(id)).catch(() => isForgetful.value = true);
  unlist(id); // once the dialog has given the focus back to the row
  tellOtherTabs({ deleted: id });
}

/** Stops saving it, even if text for it still arrives. */
function forget(id: string): void {
  clearTimeout(waiting.get(id));
  waiting.delete(id);
  unsaved.delete(id);
  const { [id]: _, ...others } = opened.value;
  opened.value = others;
}

/** Adds conversations of a file: all of them, or none. Rejects if the browser cannot keep them. */
export async function importConversations(imported: Conversation[]): Promise<void> {
  if (isForgetful.value) {
    const added = Object.fromEntries(imported.map((one) => [one.id, one]));
    opened.value = { ...opened.value, ...added };
  } else await (await openStore()).add(imported);
  const added = imported.map(toEntry);
  entries.value = [...added, ...entries.value ?? []].toSorted((a, b) => b.changedAt - a.changedAt);
  for (const saved of added) tellOtherTabs({ saved });
}

/** The conversations that have a text in a message or in an answer, in any letter case. */
export async function findInTexts(text: string): Promise<Set<string>> {
  const wanted = text.toLowerCase();
  const has = (own: string) => own.toLowerCase().includes(wanted);
  const all = await readAllConversations();
  return new Set(
    all.filter(({ turns }) =>
      Object.values(turns).some((turn) =>
        has(turn.text) || turn.answers.some((answer) => has(answerText(answer)))
      )
    ).map(({ id }) => id),
  );
}

/** Every conversation of this browser, whole. */
export async function readAllConversations(): Promise<Conversation[]> {
  const stored = await openStore().then((store) => store.list()).catch(() => []);
  const all = new Map(stored.map((conversation) => [conversation.id, conversation]));
  for (const conversation of Object.values(opened.value)) all.set(conversation.id, conversation);
  return [...all.values()];
}

async function openFromStore(id: string): Promise<void> {
  if (opened.value[id]) return;
  const { stored, isElsewhere } = await readStored(id);
  if (!stored) return;
  opened.value = { ...opened.value, [id]: stored };
  if (isElsewhere) void followOtherTab(id);
}

const FOLLOW_EVERY_MS = 500;
/** The conversations that are read again and again; true if one changed since it was read. */
const followed = new Map<string, boolean>();

/** Shows what another tab has added, and what it receives until it has all of it. */
async function followOtherTab(id: string): Promise<void> {
  const isFollowed = followed.has(id);
  followed.set(id, true);
  if (isFollowed) return;
  let isElsewhere = true;
  while ((isElsewhere || followed.get(id)) && opened.value[id]) {
    followed.set(id, false);
    isElsewhere = await readAgain(id);
    if (isElsewhere) await new Promise((resolve) => setTimeout(resolve, FOLLOW_EVERY_MS));
  }
  followed.delete(id);
}

/** Returns whether another tab still receives an answer. */
async function readAgain(id: string): Promise<boolean> {
  const { stored, isElsewhere } = await readStored(id);
  const mine = opened.value[id];
  if (!mine) return false; // it was deleted
  const merged = stored ? mergeConversations(stored, mine) : mine;
  const latest = stored && !unsaved.has(id) ? { ...merged, ...namesOf(stored) } : merged;
  const own = withCutAnswers(latest, { isElsewhere, open: ["elsewhere"] }); // own ones continue
  opened.value = { ...opened.value, [id]: own };
  return isElsewhere;
}

/** What a person changes without a message. */
function namesOf({ title, models, settings, changedAt }: Conversation): Partial<Conversation> {
  return { ...(title !== undefined && { title }), models, settings, changedAt };
}

/** What is stored is newer than what the locks say, so that a complete answer is not called cut. */
async function readStored(id: string) {
  const isElsewhere = await isBeingAnswered(id);
  const stored = await openStore().then((store) => store.read(id)).catch(() => undefined);
  return { stored: stored && withCutAnswers(stored, { isElsewhere }), isElsewhere };
}

/** For the shown conversation and for the next ones. */
export function chooseModels(models: string[]): void {
  chosenModels.value = models;
  keepChoice("models", models);
  if (currentId.value) updateConversation(currentId.value, (before) => ({ ...before, models }));
}

/** For the shown conversation and for the next ones. */
export function chooseSettings(chosen: Settings): void {
  newSettings.value = chosen;
  keepChoice("settings", chosen);
  if (currentId.value) {
    updateConversation(currentId.value, (before) => ({ ...before, settings: chosen }));
  }
}

function toEntry(conversation: Conversation): ConversationEntry {
  const { id, changedAt } = conversation;
  return { id, changedAt, title: titleOf(conversation) };
}
