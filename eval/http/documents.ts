import type { Documents } from "../../shared/http/page_routes.ts";

/** What this service serves of `docs/`. */
export const documents: Documents = {
  "tutorial": () => import("../../docs/tutorial.md", { with: { type: "text" } }),
  "concepts": () => import("../../docs/concepts.md", { with: { type: "text" } }),
  "eval-api": () => import("../../docs/eval-api.md", { with: { type: "text" } }),
  "command-line": () => import("../../docs/command-line.md", { with: { type: "text" } }),
  "dashboard": () => import("../../docs/dashboard.md", { with: { type: "text" } }),
  "from-promptfoo": () => import("../../docs/from-promptfoo.md", { with: { type: "text" } }),
  "from-openai-evals": () => import("../../docs/from-openai-evals.md", { with: { type: "text" } }),
  "improve": () => import("../../docs/improve.md", { with: { type: "text" } }),
  "scores-and-statistics": () =>
    import("../../docs/scores-and-statistics.md", { with: { type: "text" } }),
  "configuration": () => import("../../docs/configuration.md", { with: { type: "text" } }),
  "errors": () => import("../../docs/errors.md", { with: { type: "text" } }),
  "limits": () => import("../../docs/limits.md", { with: { type: "text" } }),
  "deploy": () => import("../../docs/deploy.md", { with: { type: "text" } }),
  "scale": () => import("../../docs/scale.md", { with: { type: "text" } }),
  "backup": () => import("../../docs/backup.md", { with: { type: "text" } }),
};
