import { startApp } from "../../shared/pages/app.tsx";
import { service } from "./api.ts";
import { CompareView } from "./compare/compare_view.tsx";
import { GroupView } from "./groups/group_view.tsx";
import { GroupsView } from "./groups/groups_view.tsx";
import { RunView } from "./run/run_view.tsx";
import { RunsView } from "./runs/runs_view.tsx";
import { setSource } from "./source.ts";

setSource(service);
startApp({
  name: "assay-eval",
  views: [
    { path: "/", title: "Runs", render: () => <RunsView /> },
    { path: "/ui/runs/:id", title: "Run", render: ({ id }) => <RunView key={id} id={id!} /> },
    { path: "/ui/groups", title: "Groups", render: () => <GroupsView /> },
    { path: "/ui/groups/:id", title: "Group", render: ({ id }) => <GroupView key={id} id={id!} /> },
    { path: "/ui/compare", title: "Compare", render: () => <CompareView /> },
  ],
});
