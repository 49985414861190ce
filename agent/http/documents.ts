import type { Documents } from "../../shared/http/page_routes.ts";

/** What this service serves of `docs/`. */
export const documents: Documents = {
  "agent-api": () => import("../../docs/agent-api.md", { with: { type: "text" } }),
  "frontend": () => import("../../docs/frontend.md", { with: { type: "text" } }),
  "mcp": () => import("../../docs/mcp.md", { with: { type: "text" } }),
  "configuration": () => import("../../docs/configuration.md", { with: { type: "text" } }),
  "errors": () => import("../../docs/errors.md", { with: { type: "text" } }),
  "limits": () => import("../../docs/limits.md", { with: { type: "text" } }),
  "deploy": () => import("../../docs/deploy.md", { with: { type: "text" } }),
};
