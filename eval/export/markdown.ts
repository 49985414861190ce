import { describeComparison } from "./comparison_text.ts";
import { digestRun } from "./digest.ts";
import type { ExportFormat } from "./format.ts";
import { markdownForm } from "./markdown_form.ts";
import { describeRun } from "./run_text.ts";

/** For a pull request's comment. */
export const markdown: ExportFormat = {
  name: "markdown",
  extension: "md",
  contentType: "text/markdown; charset=utf-8",
  async *write(source) {
    yield describeRun(source, { digest: await digestRun(source), form: markdownForm });
    if (source.comparison) yield describeComparison(source.comparison, markdownForm);
  },
};
