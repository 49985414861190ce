import { startApp } from "../../shared/pages/app.tsx";
import { lazy, loadWhenIdle } from "../../shared/pages/components/lazy.tsx";
import { service } from "./api.ts";
import { Frame } from "./frame.tsx";
import { GroupsView } from "./groups/groups_view.tsx";
import { RunView } from "./run/run_view.tsx";
import { RunsView } from "./runs/runs_view.tsx";
import { setSource } from "./source.ts";

const several = () => import("./several.tsx");
const CompareView = lazy(() => several().then((views) => views.CompareView), Frame);
const GroupView = lazy(() => several().then((views) => views.GroupView), Frame);
const prepare = () => import("./prepare.tsx");
const docs = () => import("../../shared/pages/docs/docs_view.tsx");
const NewRunView = lazy(() => prepare().then((views) => views.NewRunView), Frame);
const DatasetsView = lazy(() => prepare().then((views) => views.DatasetsView), Frame);
const NewDatasetView = lazy(() => prepare().then((views) => views.NewDatasetView), Frame);
const AddScenarioView = lazy(() => prepare().then((views) => views.AddScenarioView), Frame);
const DatasetView = lazy(() => prepare().then((views) => views.DatasetView), Frame);
const DocsView = lazy(() => docs().then((views) => views.DocsView), Frame);

setSource(service);
startApp({
  name: "assay-eval",
  views: [
    { path: "/", title: "Runs", render: () => <RunsView /> },
    { path: "/ui/runs/:id", title: "Run", render: ({ id }) => <RunView key={id} id={id!} /> },
    { path: "/ui/groups", title: "Groups", render: () => <GroupsView /> },
    { path: "/ui/groups/:id", title: "Group", render: ({ id }) => <GroupView key={id} id={id!} /> },
    { path: "/ui/compare", title: "Compare", render: () => <CompareView /> },
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
    { path: "/docs", title: "API", render: () => <DocsView name="assay-eval" /> },
  ],
});
loadWhenIdle([several, prepare, docs]);
