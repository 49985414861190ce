import { startApp } from "../../shared/pages/app.tsx";
import { DocsView } from "../../shared/pages/docs/docs_view.tsx";
import { service } from "./api.ts";
import { CompareView } from "./compare/compare_view.tsx";
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
    { path: "/ui/new", title: "New run", render: () => <NewRunView /> },
    { path: "/ui/compare", title: "Compare", render: () => <CompareView /> },
    { path: "/docs", title: "API", render: () => <DocsView name="assay-eval" /> },
  ],
});
