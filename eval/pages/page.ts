import type { Page } from "../../shared/http/router/page_routes.ts";
import script from "./bundle/app.js" with { type: "text" };
import docsScript from "./bundle/docs.js" with { type: "text" };
import prepareScript from "./bundle/prepare.js" with { type: "text" };
import style from "./bundle/app.css" with { type: "text" };

/** The page of the evaluation service: a dashboard, the views that prepare runs, the reference. */
export const dashboardPage: Page = {
  title: "assay-eval",
  script,
  style,
  others: [
    { name: "docs", paths: ["/docs"], text: docsScript },
    {
      name: "prepare",
      paths: [
        "/ui/new",
        "/ui/datasets",
        "/ui/datasets/new",
        "/ui/datasets/add",
        "/ui/dataset/:name",
      ],
      text: prepareScript,
    },
  ],
};
