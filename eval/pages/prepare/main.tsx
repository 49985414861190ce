import { startApp } from "../../../shared/pages/app.tsx";
import { AddScenarioView } from "../datasets/add_scenario_view.tsx";
import { DatasetView } from "../datasets/dataset_view.tsx";
import { DatasetsView } from "../datasets/datasets_view.tsx";
import { NewDatasetView } from "../datasets/new_dataset_view.tsx";
import { keepDraft, restoreDraft } from "../new_run/draft.ts";
import { NewRunView } from "../new_run/new_run_view.tsx";

restoreDraft();
globalThis.addEventListener("pagehide", keepDraft);
/** A script of its own: whoever looks at runs does not load what prepares them. */
startApp({
  name: "assay-eval",
  views: [
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
  ],
});
