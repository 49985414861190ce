import { useEffect } from "preact/hooks";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Menu } from "../../../shared/pages/components/menu.tsx";
import { navigate, useSubject } from "../../../shared/pages/location.ts";
import type { GroupReport } from "../../groups/group_report.ts";
import { readGroup } from "../api.ts";
import { Frame } from "../frame.tsx";
import { useLoaded } from "../loaded.ts";
import { Shown } from "../shown.tsx";
import { DeleteGroupDialog, groupActions, groupExports } from "./group_actions.tsx";
import { GroupBody } from "./group_body.tsx";
import { GroupGrid } from "./group_grid.tsx";

/** How often a group that is running is read again. */
const BUSY_MS = 2_000;

/** Several models on the same conversations: their scores, and which is better. */
export function GroupView({ id }: { id: string }) {
  const loaded = useLoaded(() => readGroup(id), [id]);
  useSubject(loaded.value?.test_name);
  useEffect(() => {
    if (loaded.value?.status !== "running") return;
    const timer = setTimeout(loaded.reload, BUSY_MS);
    return () => clearTimeout(timer);
  }, [loaded.value, loaded.problem]);
  return (
    <Frame>
      <Shown
        loaded={loaded}
        what="the group"
        elsewhere={<Link class="button small" href="/ui/groups">All groups</Link>}
      >
        {(group) => (
          <GroupBody
            group={group}
            crumbs={
              <nav class="crumbs" aria-label="Where you are">
                <Link href="/ui/groups">Groups</Link>
              </nav>
            }
            actions={<Actions group={group} reload={loaded.reload} />}
            replies={group.status !== "running" && <GroupGrid group={group} />}
          />
        )}
      </Shown>
      <DeleteGroupDialog />
    </Frame>
  );
}

function Actions({ group, reload }: { group: GroupReport; reload: () => void }) {
  return (
    <>
      {group.status !== "running" && (
        <Menu
          button={{ icon: "download", children: "Export" }}
          items={groupExports(group.group_id)}
        />
      )}
      <Menu
        button={{ icon: "more", "aria-label": "Actions" }}
        items={groupActions(group, reload, () => navigate("/ui/groups"))}
      />
    </>
  );
}
