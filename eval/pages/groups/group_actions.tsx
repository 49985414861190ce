import { signal } from "@preact/signals";
import { ConfirmDialog } from "../../../shared/pages/components/dialog.tsx";
import type { MenuItem } from "../../../shared/pages/components/menu.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import type { ListedGroup } from "../../groups/group_report.ts";
import { cancelGroup, deleteGroup, downloadGroup, retryGroup } from "../api.ts";
import { canRetry, RETRY, tryAction } from "../run_actions.tsx";

type Group = Pick<ListedGroup, "group_id" | "status" | "test_name" | "progress"> & {
  models: unknown[];
};

/** The group that the person is asked about. */
const deleting = signal<{ group: Group; after: () => void } | undefined>(undefined);

/** What can be done with a group. `changed` and `deleted` are called when that has been done. */
export function groupActions(group: Group, changed: () => void, deleted = changed): MenuItem[] {
  if (group.status === "running") {
    return [{
      label: "Cancel its runs",
      icon: "stop",
      onSelect: () =>
        tryAction(async () => {
          await cancelGroup(group.group_id);
          changed();
          return "The runs are cancelled; their finished turns are kept.";
        }),
    }];
  }
  const items: (MenuItem | false)[] = [
    canRetry(group) && {
      label: RETRY,
      icon: "retry",
      onSelect: () =>
        tryAction(async () => {
          await retryGroup(group.group_id);
          changed();
        }),
    },
    {
      label: "Delete",
      icon: "trash",
      isDanger: true,
      onSelect: () => deleting.value = { group, after: deleted },
    },
  ];
  return items.filter((item) => item !== false);
}

const FORMATS = [
  ["json", "JSON"],
  ["csv", "CSV"],
  ["markdown", "Markdown"],
  ["html", "HTML report, one file"],
] as const;

/** The files that a group can be saved as. */
export function groupExports(id: string): MenuItem[] {
  return FORMATS.map(([format, label]) => ({
    label,
    icon: "download",
    onSelect: () => tryAction(() => downloadGroup(id, format)),
  }));
}

/** Asks before a group is deleted. */
export function DeleteGroupDialog() {
  const asked = deleting.value;
  if (!asked) return null;
  const { group, after } = asked;
  return (
    <ConfirmDialog
      title="Delete this group?"
      action="Delete"
      onConfirm={() =>
        tryAction(async () => {
          await deleteGroup(group.group_id);
          after();
          return "The group is deleted.";
        })}
      onClose={() => deleting.value = undefined}
    >
      <p>
        <strong dir="auto">{group.test_name}</strong> with the runs of{" "}
        {formatNumberOf(group.models.length, "model")} will be gone for good, for everybody.
      </p>
    </ConfirmDialog>
  );
}
