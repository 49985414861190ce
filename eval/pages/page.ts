import type { Page } from "../../shared/http/page_routes.ts";
import script from "./bundle/app.js" with { type: "text" };
import docsScript from "./bundle/docs.js" with { type: "text" };
import style from "./bundle/app.css" with { type: "text" };

/** The page of the evaluation service: a dashboard, and the API's reference. */
export const dashboardPage: Page = { title: "assay-eval", script, style, docsScript };
