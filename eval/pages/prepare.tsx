import { keepDraft, restoreDraft } from "./new_run/draft.ts";

/** The views that prepare runs, in a script that is loaded only for them. */
export { AddScenarioView } from "./datasets/add_scenario_view.tsx";
export { DatasetView } from "./datasets/dataset_view.tsx";
export { DatasetsView } from "./datasets/datasets_view.tsx";
export { NewDatasetView } from "./datasets/new_dataset_view.tsx";
export { NewRunView } from "./new_run/new_run_view.tsx";

restoreDraft();
globalThis.addEventListener("pagehide", keepDraft);
