import type { Page } from "../../shared/http/page_routes.ts";
import scripts from "./bundle/app.json" with { type: "json" };
import style from "./bundle/app.css" with { type: "text" };

/** The page of the evaluation service: a dashboard, the views that prepare runs, the reference. */
export const dashboardPage: Page = { title: "assay-eval", scripts, style };
