import type { MenuItem } from "../../../shared/pages/components/menu.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { navigate } from "../../../shared/pages/location.ts";
import { downloadItems, tryAction } from "../actions.tsx";
import { type Deletion, deletionItem } from "../deletion.tsx";
import { deleteDataset, downloadDataset, tagDataset } from "../api.ts";

/** The address of the form that starts a run of a dataset. */
export function runAddress(dataset: string): string {
  return `/ui/new?dataset=${encodeURIComponent(dataset)}`;
}

const FORMATS = [["jsonl", "JSONL, one scenario per line"], ["json", "JSON"]] as const;

/** The files that a version, or the latest one, can be saved as. */
export function datasetDownloads(name: string, version?: string): MenuItem[] {
  return downloadItems(FORMATS, (format) => downloadDataset(name, { version, format }));
}

/** What can be done with a dataset in the list. `after` is called when it is deleted. */
export function datasetActions(
  { name, versions, tags }: { name: string; versions: number; tags: string[] },
  after: () => void,
): MenuItem[] {
  return [
    { label: "New run", icon: "test", onSelect: () => navigate(runAddress(name)) },
    {
      label: "New version",
      icon: "upload",
      onSelect: () => navigate(`/ui/datasets/new?name=${encodeURIComponent(name)}`),
    },
    ...datasetDownloads(name),
    holdingOut({ name, tags }, after),
    deletionItem(datasetDeletion({ name, versions }, after)),
  ];
}

const HELD_OUT = "held-out";

/** Keeps a dataset out of training data, or no longer. `after` is called when that has been done. */
export function holdingOut(
  { name, tags }: { name: string; tags: string[] },
  after: () => void,
): MenuItem {
  const isHeldOut = tags.includes(HELD_OUT);
  return {
    label: isHeldOut ? "Allow in training data" : "Hold out of training data",
    icon: "edit",
    onSelect: () =>
      tryAction(async () => {
        const others = tags.filter((tag) => tag !== HELD_OUT);
        await tagDataset(name, isHeldOut ? others : [...others, HELD_OUT]);
        after();
        return isHeldOut
          ? "Runs of it may become training data."
          : "Nothing of it becomes training data.";
      }),
  };
}

/** The deletion of a dataset. `after` is called when that has been done. */
export function datasetDeletion(
  { name, versions }: { name: string; versions: number },
  after: () => void,
): Deletion {
  const content = formatNumberOf(versions, "version");
  return { noun: "dataset", name, content, note: NOTE, erase: () => deleteDataset(name), after };
}

/** The deletion of one version of a dataset. */
export function versionDeletion(
  { name, version }: { name: string; version: string },
  after: () => void,
): Deletion {
  const erase = () => deleteDataset(name, version);
  return { noun: "version", name, version, note: NOTE, erase, after };
}

const NOTE = "Runs of it stay as they are.";
