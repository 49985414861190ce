import type {} from "npm:@ag-ui/client@1.0.0";
import type {} from "npm:@ai-sdk/react@4.0.177";
import type {} from "npm:ai@7.0.173";
import type {} from "npm:react-dom@19.3.1/client";
import type {} from "npm:react@19.3.1/jsx-runtime";

/** What the pages of `docs/frontend.md` import, in the versions that they are tested with. */
export const FRONTEND_PACKAGES = {
  "@ag-ui/client": "npm:@ag-ui/client@1.0.0",
  "@ai-sdk/react": "npm:@ai-sdk/react@4.0.177",
  "ai": "npm:ai@7.0.173",
  "react": "npm:react@19.3.1",
  "react/jsx-runtime": "npm:react@19.3.1/jsx-runtime",
  "react-dom/client": "npm:react-dom@19.3.1/client",
};
