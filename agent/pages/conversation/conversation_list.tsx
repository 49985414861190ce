import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, IconButton } from "../../../shared/pages/components/button.tsx";
import { ConfirmDialog, Dialog } from "../../../shared/pages/components/dialog.tsx";
import { TextField } from "../../../shared/pages/components/field.tsx";
import { Icon } from "../../../shared/pages/components/icon.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { useRowFocus } from "../../../shared/pages/components/data_table.tsx";
import { showToast } from "../../../shared/pages/components/toast.tsx";
import { formatAge, formatNumberOf } from "../../../shared/pages/format.ts";
import { saveFile } from "../../../shared/pages/save_file.ts";
import { FileProblem, parseConversations, toJsonFile } from "./conversation_file.ts";
import {
  current,
  deleteConversation,
  entries,
  findInTexts,
  importConversations,
  readAllConversations,
  renameConversation,
} from "./conversation_state.ts";
import type { ConversationEntry } from "./other_tabs.ts";

/** From this many on, the list has a search. */
const MANY = 6;
/** Keystrokes are searched for together. */
const TYPING_MS = 150;

/**
 * The conversations of this browser. On narrow screens it lies over the page while it is open, has
 * the focus, and closes when the focus leaves it.
 */
export function ConversationList({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [query, setQuery] = useState("");
  const [asked, setAsked] = useState<{ what: "rename" | "delete"; entry: ConversationEntry }>();
  const nav = useRowFocus<HTMLElement>(".list-item");
  useLayoutEffect(() => {
    if (isOpen) nav.current?.querySelector("a")?.focus();
  }, [isOpen]);
  function onFocusOut({ relatedTarget: next }: FocusEvent): void {
    const isElsewhere = next instanceof Element && !nav.current?.contains(next);
    if (isOpen && isElsewhere && !next.closest("dialog")) onClose();
  }
  const all = entries.value ?? [];
  const wanted = query.trim().toLowerCase();
  const [inTexts, setInTexts] = useState<Set<string>>(new Set());
  useEffect(() => {
    setInTexts(new Set());
    if (wanted.length < 2) return;
    let isCurrent = true;
    const timer = setTimeout(async () => {
      const ids = await findInTexts(wanted);
      if (isCurrent) setInTexts(ids);
    }, TYPING_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [wanted, all.length]);
  const found = all.filter(({ id, title }) =>
    title.toLowerCase().includes(wanted) || inTexts.has(id)
  );
  return (
    <>
      {isOpen && <div class="list-shade" onClick={onClose} />}
      <nav
        ref={nav}
        class={isOpen ? "list open" : "list"}
        aria-label="Conversations"
        onFocusOut={onFocusOut}
        onClick={({ target }) => {
          if (isOpen && target instanceof Element && target.closest("a")) onClose();
        }}
        onKeyDown={(event) => {
          if (isOpen && event.key === "Escape") onClose();
        }}
      >
        <div class="list-head">
          <Link class="button" href="/">
            <Icon name="plus" />New conversation
          </Link>
          <ListMenu isEmpty={all.length === 0} />
          <span class="narrow-only">
            <IconButton icon="close" label="Close the list" onClick={onClose} />
          </span>
        </div>
        {all.length >= MANY && (
          <input
            class="input"
            type="search"
            aria-label="Search conversations"
            placeholder="Search"
            value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
        )}
        <ul>
          {found.map((entry) => (
            <li
              key={entry.id}
              class={entry.id === current.value?.id ? "list-item current" : "list-item"}
            >
              <Link
                href={`/ui/c/${entry.id}`}
                {...(entry.id === current.value?.id && { "aria-current": "page" as const })}
              >
                <span class="list-title" dir="auto">{entry.title}</span>
                <span class="list-age">{formatAge(entry.changedAt)}</span>
              </Link>
              <Menu
                button={{
                  kind: "quiet",
                  isSmall: true,
                  icon: "more",
                  "aria-label": `Actions for ${entry.title}`,
                }}
                items={[
                  {
                    label: "Rename",
                    icon: "edit",
                    onSelect: () => setAsked({ what: "rename", entry }),
                  },
                  {
                    label: "Delete",
                    icon: "trash",
                    isDanger: true,
                    onSelect: () => setAsked({ what: "delete", entry }),
                  },
                ]}
              />
            </li>
          ))}
        </ul>
        {entries.value && found.length === 0 && (
          <p class="list-empty">
            {query ? "No conversation has this in its title or texts." : "No conversations yet."}
          </p>
        )}
      </nav>
      {asked?.what === "rename" && (
        <RenameDialog
          entry={asked.entry}
          onClose={() => setAsked(undefined)}
        />
      )}
      {asked?.what === "delete" && (
        <ConfirmDialog
          title="Delete this conversation?"
          action="Delete"
          onConfirm={() => void deleteConversation(asked.entry.id)}
          onClose={() => setAsked(undefined)}
        >
          “{asked.entry.title}” is kept in this browser only. Deleting it cannot be undone.
        </ConfirmDialog>
      )}
    </>
  );
}

function RenameDialog({ entry, onClose }: { entry: ConversationEntry; onClose: () => void }) {
  const [title, setTitle] = useState(entry.title);
  return (
    <Dialog title="Rename" onClose={onClose}>
      <form
        class="dialog-body-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!title.trim()) return;
          void renameConversation(entry.id, title);
          onClose();
        }}
      >
        <TextField
          label="Title"
          dir="auto"
          autofocus
          maxLength={200}
          value={title}
          onInput={setTitle}
        />
        <div class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={!title.trim()}>Rename</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Export of all conversations, and import. */
function ListMenu({ isEmpty }: { isEmpty: boolean }) {
  const file = useRef<HTMLInputElement>(null);
  async function exportAll(): Promise<void> {
    const text = toJsonFile(await readAllConversations());
    saveFile("assay-conversations.json", text, "application/json");
  }
  async function importFile(chosen: File): Promise<void> {
    try {
      const imported = parseConversations(await chosen.text());
      const count = formatNumberOf(imported.length, "conversation");
      const endProgress = showToast(`Importing ${count}…`);
      await importConversations(imported).catch((error) => {
        throw new FileProblem(`Nothing was imported: the browser cannot keep it (${error}).`);
      }).finally(endProgress);
      showToast(`${count} imported.`);
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      showToast(error.message);
    }
  }
  return (
    <>
      <Menu
        align="start"
        button={{ kind: "quiet", icon: "more", "aria-label": "Import and export" }}
        items={[
          { label: "Import", icon: "upload", onSelect: () => file.current?.click() },
          ...(isEmpty ? [] : [{
            label: "Export all",
            icon: "download" as const,
            onSelect: () => void exportAll(),
          }]),
        ]}
      />
      <input
        ref={file}
        type="file"
        accept="application/json,.json"
        aria-label="File to import"
        hidden
        onChange={(event) => {
          const [chosen] = event.currentTarget.files ?? [];
          event.currentTarget.value = "";
          if (chosen) void importFile(chosen);
        }}
      />
    </>
  );
}
