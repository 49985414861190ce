import { Age, Empty } from "../../../shared/pages/components/states.tsx";
import { DataTable } from "../../../shared/pages/components/data_table.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { RowMenu } from "../actions.tsx";
import { listGroups } from "../api.ts";
import { StatusBadge } from "../parts/status_badge.tsx";
import { Shown } from "../loaded.tsx";
import { ModelName } from "../runs/runs_table.tsx";
import { readPages, usePages } from "../parts/paging.tsx";
import { meanText } from "../words.ts";
import { groupActions } from "./group_actions.tsx";

const PAGE = 50;

/** The groups of runs with several models, newest first. */
export function GroupsView() {
  const { loaded, more } = usePages(
    (count) => readPages("groups", (cursor) => listGroups({ limit: PAGE, cursor }), count),
    [],
  );
  return (
    <>
      <div class="page-head">
        <h2>Groups</h2>
        <span class="muted small">Several models on the same conversations</span>
      </div>
      <Shown loaded={loaded} what="the groups">
        {({ rows }) =>
          rows.length === 0
            ? (
              <Empty icon="columns" title="No groups yet">
                <p>
                  A run of several models makes a group: name them in a new run, or send{" "}
                  <code>model_ids</code> to <code>POST /evaluate</code>.
                </p>
                <Link class="button primary" href="/ui/new">New run</Link>
              </Empty>
            )
            : (
              <>
                <DataTable
                  label="Groups"
                  class="runs two-lines"
                  rows={rows}
                  keyOf={({ group_id }) => group_id}
                  columns={[
                    {
                      label: "Test",
                      cell: ({ group_id, test_name }) => (
                        <Link class="name" href={`/ui/groups/${group_id}`} dir="auto">
                          {test_name || "(no name)"}
                        </Link>
                      ),
                    },
                    {
                      label: "Models and their scores",
                      cell: ({ models }) => (
                        <ul class="bare-list models-cell">
                          {models.map(({ name, status, overall, progress: { done, failed } }) => (
                            <li key={name}>
                              <bdi>
                                <ModelName name={name} />
                              </bdi>{" "}
                              <span class="number">
                                {failed < done && overall &&
                                  meanText(overall) + (status === "completed" ? "" : " so far")}
                              </span>
                            </li>
                          ))}
                        </ul>
                      ),
                    },
                    {
                      label: "Status",
                      cell: (group) => <StatusBadge run={{ ...group, detail: null }} />,
                    },
                    { label: "Started", cell: ({ created_at }) => <Age of={created_at} /> },
                    {
                      label: "Actions",
                      isLabelHidden: true,
                      isMinor: true,
                      cell: (group) => (
                        <RowMenu
                          of={group.test_name}
                          items={groupActions(group, loaded.reload)}
                        />
                      ),
                    },
                  ]}
                />
                {more}
              </>
            )}
      </Shown>
    </>
  );
}
