import { writeResult } from "../../results/run_result.ts";
import { groupInDetail } from "../../groups/groups.ts";
import type { ExportFormat } from "../format.ts";

/**
 * The run's result as `POST /evaluate` answers it. A run that ended early has its finished turns, and
 * a message that says so.
 */
export const json: ExportFormat = {
  name: "json",
  about: "the answer of `POST /evaluate`; the default",
  extension: "json",
  contentType: "application/json",
  uses: ["noise"],
  async *write({ run, reader, noise, agreement, detail }) {
    const { done } = await reader.tally(run.id);
    const message = `Evaluation ${run.status}: ${done} of ${run.totalTurns} interactions completed`;
    yield* writeResult(reader, run, {
      detail,
      ...(run.status !== "completed" && { message }),
      ...(noise && { noise: noise.scores }),
      ...(agreement && { agreement }),
    });
    yield "\n";
  },
  async *writeGroup({ report, detail }) {
    yield `${JSON.stringify(groupInDetail(report, detail), null, 2)}\n`;
  },
};
