import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ConfirmDialog } from "../../shared/pages/components/dialog.tsx";
import type { MenuItem } from "../../shared/pages/components/menu.tsx";
import { tryAction } from "./actions.tsx";

/** Something to delete: what the question says, and what does it. */
export interface Deletion {
  noun: "run" | "group" | "dataset" | "version";
  name: string;
  /** The version of a dataset. */
  version?: string | undefined;
  /** What is deleted with it, such as `3 versions`. */
  content?: string | undefined;
  note?: string;
  erase: () => Promise<void>;
  /** Called when it is deleted. */
  after: () => void;
}

const asked = signal<Deletion | undefined>(undefined);

/** Asks, and then deletes. */
export function askToDelete(deletion: Deletion): void {
  asked.value = deletion;
}

/** The item of a menu that asks, and then deletes. */
export function deletionItem(deletion: Deletion, label = "Delete"): MenuItem {
  return { label, icon: "trash", isDanger: true, onSelect: () => askToDelete(deletion) };
}

/** Asks before something is deleted. A question that was not answered goes with its view. */
export function DeleteDialog() {
  useEffect(() => () => void (asked.value = undefined), []);
  if (!asked.value) return null;
  const { noun, name, version, content, note, erase, after } = asked.value;
  return (
    <ConfirmDialog
      title={`Delete this ${noun}?`}
      action="Delete"
      onConfirm={() =>
        tryAction(async () => {
          await erase();
          after();
          return `The ${noun} is deleted.`;
        })}
      onClose={() => asked.value = undefined}
    >
      <p>
        {version && (
          <>
            Version <code>{version.slice(0, 8)}</code> of{" "}
          </>
        )}
        <strong dir="auto">{name}</strong>
        {content && ` with ${content}`} will be gone for good, for everybody. {note}
      </p>
    </ConfirmDialog>
  );
}
