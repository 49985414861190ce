import type { Page } from "../../shared/http/page_routes.ts";
import scripts from "./bundle/app.json" with { type: "json" };
import style from "./bundle/app.css" with { type: "text" };

/** The page of the agent: a chat, and the API's reference. */
export const chatPage: Page = { title: "assay-agent", scripts, style };
