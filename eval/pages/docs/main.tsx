import { startApp } from "../../../shared/pages/app.tsx";
import { DocsView } from "../../../shared/pages/docs/docs_view.tsx";

/** A script of its own: whoever looks at runs does not load the reference of the API. */
startApp({
  name: "assay-eval",
  views: [{ path: "/docs", title: "API", render: () => <DocsView name="assay-eval" /> }],
});
