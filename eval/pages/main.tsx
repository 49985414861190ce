import { startApp } from "../../shared/pages/app.tsx";
import { service } from "./api.ts";
import { CompareView } from "./compare/compare_view.tsx";
import { AddScenarioView } from "./datasets/add_scenario_view.tsx";
import { DatasetView } from "./datasets/dataset_view.tsx";
import { DatasetsView } from "./datasets/datasets_view.tsx";
import { NewDatasetView } from "./datasets/new_dataset_view.tsx";
import { GroupView } from "./groups/group_view.tsx";
import { GroupsView } from "./groups/groups_view.tsx";
import { NewRunView } from "./new_run/new_run_view.tsx";
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
    { path: "/ui/new", title: "New run", render: () => <NewRunView /> },
    { path: "/ui/datasets", title: "Datasets", render: () => <DatasetsView /> },
    { path: "/ui/datasets/new", title: "New dataset", render: () => <NewDatasetView /> },
    { path: "/ui/datasets/add", title: "Add a scenario", render: () => <AddScenarioView /> },
    // Not below /ui/datasets/: a dataset may be called "new".
    {
      path: "/ui/dataset/:name",
      title: "Dataset",
      render: ({ name }) => <DatasetView key={name} name={name!} />,
    },
    { path: "/ui/compare", title: "Compare", render: () => <CompareView /> },
  ],
});
