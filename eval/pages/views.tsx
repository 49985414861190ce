import type { View } from "../../shared/pages/app.tsx";
import { lazy } from "../../shared/pages/components/lazy.tsx";
import { BarePage } from "../../shared/pages/components/top_bar.tsx";
import { RunView } from "./run/run_view.tsx";
import { RunsView } from "./runs/runs_view.tsx";

const several = () => import("./several.tsx");
const CompareView = lazy(() => several().then((views) => views.CompareView));
const prepare = () => import("./prepare.tsx");
const NewRunView = lazy(() => prepare().then((views) => views.NewRunView));
const DatasetsView = lazy(() => prepare().then((views) => views.DatasetsView));
const NewDatasetView = lazy(() => prepare().then((views) => views.NewDatasetView));
const AddScenarioView = lazy(() => prepare().then((views) => views.AddScenarioView));
const DatasetView = lazy(() => prepare().then((views) => views.DatasetView));
const docs = () => import("../../shared/pages/docs/docs_view.tsx");
const DocsView = lazy(
  () => docs().then((views) => views.DocsView),
  ({ children }) => <BarePage title="assay-eval">{children}</BarePage>,
);

/** The scripts that are loaded when their views are first shown. */
export const LATER_SCRIPTS = [several, prepare, docs];

interface DashboardView extends View {
  /**
   * The item of the menu that it stands under; the item leads to the first view of its name. A view
   * without one draws its whole page.
   */
  place?: string;
  /** For the list of views in the documents. */
  shows: string;
}

/** The views of the dashboard, in the order of the menu. */
export const VIEWS: DashboardView[] = [
  {
    path: "/",
    title: "Runs",
    place: "Runs",
    shows: "the runs; `test` shows the trend of one test, `q` and `status` filter",
    render: () => <RunsView />,
  },
  {
    path: "/ui/runs/:id",
    title: "Run",
    place: "Runs",
    shows:
      "a run, live while it is running; `turn=0/1/0` opens a turn, `view` is a tab, such as `scores` or `grades`",
    render: ({ id }) => <RunView id={id!} />,
  },
  {
    path: "/ui/new",
    title: "New run",
    place: "New run",
    shows: "a new run; `dataset` names its conversations",
    render: () => <NewRunView />,
  },
  {
    path: "/ui/datasets",
    title: "Datasets",
    place: "Datasets",
    shows: "the datasets; `q` filters",
    render: () => <DatasetsView />,
  },
  {
    path: "/ui/datasets/new",
    title: "New dataset",
    place: "Datasets",
    shows: "a file becomes a dataset; `name` writes a version of one",
    render: () => <NewDatasetView />,
  },
  {
    path: "/ui/datasets/add",
    title: "Add a scenario",
    place: "Datasets",
    shows: "one scenario of another page (below), to look at and to add to a dataset",
    render: () => <AddScenarioView />,
  },
  // Not below /ui/datasets/: a dataset may be called "new".
  {
    path: "/ui/dataset/:name",
    title: "Dataset",
    place: "Datasets",
    shows: "a dataset with its versions (`version`) and scenarios",
    render: ({ name }) => <DatasetView name={name!} />,
  },
  {
    path: "/ui/compare",
    title: "Compare",
    place: "Compare",
    shows: "runs compared: `baseline` and `candidate`, or side by side, `runs` or a `group`",
    render: () => <CompareView />,
  },
  {
    path: "/docs",
    title: "API",
    shows: "the reference of the API, with a form to try each route",
    render: () => <DocsView name="assay-eval" />,
  },
];
