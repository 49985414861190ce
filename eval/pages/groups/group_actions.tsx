import type { MenuItem } from "../../../shared/pages/components/menu.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import type { ListedGroup } from "../../groups/group_report.ts";
import { downloadItems, tryAction } from "../actions.tsx";
import { deletionItem } from "../deletion.tsx";
import { cancelGroup, deleteGroup, downloadGroup, retryGroup } from "../api.ts";
import { canRetry, RETRY } from "../run_actions.tsx";

type Group = Pick<ListedGroup, "group_id" | "status" | "test_name" | "progress"> & {
  models: unknown[];
};

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
    deletionItem({
      noun: "group",
      name: group.test_name,
      content: `the runs of ${formatNumberOf(group.models.length, "model")}`,
      erase: () => deleteGroup(group.group_id),
      after: deleted,
    }),
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
  return downloadItems(FORMATS, (format) => downloadGroup(id, format));
}
