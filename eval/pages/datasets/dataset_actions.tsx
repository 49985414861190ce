import { signal } from "@preact/signals";
import { ConfirmDialog } from "../../../shared/pages/components/dialog.tsx";
import type { MenuItem } from "../../../shared/pages/components/menu.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { navigate } from "../../../shared/pages/location.ts";
import { deleteDataset, downloadDataset } from "../api.ts";
import { tryAction } from "../run_actions.tsx";

/** What the person is asked about: a dataset, or one of its versions. */
interface Deletion {
  name: string;
  /** All of them if it is unset. */
  version?: string | undefined;
  versions: number;
  after: () => void;
}

const deleting = signal<Deletion | undefined>(undefined);

/** Asks, and then deletes; `after` is called when it is deleted. */
export function askToDelete(deletion: Deletion): void {
  deleting.value = deletion;
}

/** The address of the form that starts a run of a dataset. */
export function runAddress(dataset: string): string {
  return `/ui/new?dataset=${encodeURIComponent(dataset)}`;
}

/** The files that a version, or the latest one, can be saved as. */
export function downloadItems(name: string, version?: string): MenuItem[] {
  const formats = ["jsonl", "json"] as const;
  return formats.map((format) => ({
    label: format === "jsonl" ? "JSONL, one scenario per line" : "JSON",
    icon: "download",
    onSelect: () => tryAction(() => downloadDataset(name, { version, format })),
  }));
}

/** What can be done with a dataset in the list. */
export function datasetActions(
  { name, versions }: { name: string; versions: number },
  after: () => void,
): MenuItem[] {
  return [
    { label: "New run", icon: "test", onSelect: () => navigate(runAddress(name)) },
    {
      label: "New version",
      icon: "upload",
      onSelect: () => navigate(`/ui/datasets/new?name=${encodeURIComponent(name)}`),
    },
    ...downloadItems(name),
    {
      label: "Delete",
      icon: "trash",
      isDanger: true,
      onSelect: () => askToDelete({ name, versions, after }),
    },
  ];
}

/** Asks before a dataset or a version is deleted. */
export function DeleteDatasetDialog() {
  const asked = deleting.value;
  if (!asked) return null;
  const { name, version, versions, after } = asked;
  return (
    <ConfirmDialog
      title={version ? "Delete this version?" : "Delete this dataset?"}
      action="Delete"
      onConfirm={() =>
        tryAction(async () => {
          await deleteDataset(name, version);
          after();
          return version ? "The version is deleted." : "The dataset is deleted.";
        })}
      onClose={() => deleting.value = undefined}
    >
      <p>
        {version
          ? (
            <>
              Version <code>{version.slice(0, 8)}</code> of <strong>{name}</strong>
            </>
          )
          : (
            <>
              <strong>{name}</strong> with {formatNumberOf(versions, "version")}
            </>
          )} will be gone for good, for everybody. Runs of it stay as they are.
      </p>
    </ConfirmDialog>
  );
}
