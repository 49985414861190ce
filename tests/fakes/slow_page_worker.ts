/** The page worker, but for one page that it never finishes. */
import { type FetchedPage, htmlToText } from "../../agent/core/tools/page_worker.ts";
import { serveCalls, stoppable } from "../../shared/service/serve_calls.ts";

serveCalls(stoppable((page: FetchedPage) => {
  while (page.html === "endless");
  return htmlToText(page);
}));
