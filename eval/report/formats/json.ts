import { systemPromptOf } from "../../test/scenario.ts";
import { readScoreRows } from "../text/score_rows.ts";
import { writeResult } from "../../figures/run_result.ts";
import { comparisonInDetail } from "../../figures/compare_stored.ts";
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
  uses: [],
  async *write({ run, reader, agreement, leaks, detail }) {
    const { done } = await reader.tally(run.id);
    const message = `Evaluation ${run.status}: ${done} of ${run.totalTurns} interactions completed`;
    yield* writeResult(reader, run, {
      detail,
      ...(run.status !== "completed" && { message }),
      ...(agreement && { agreement }),
      ...(leaks && { leaks }),
    });
    yield "\n";
  },
  async *writeComparison({ result, detail }) {
    yield `${JSON.stringify(comparisonInDetail(result, detail), null, 2)}\n`;
  },
};

/**
 * One line per turn: its result, and its position as the API counts it. Or one line per score: its
 * statistic, and what else is known of it.
 */
export const jsonl: ExportFormat = {
  name: "jsonl",
  about: "one line per turn; `attempt_id` counts from 1 and `turn` from 0, as everywhere",
  extension: "jsonl",
  contentType: "application/jsonl",
  uses: ["rows"],
  async *write(source) {
    const { run, reader } = source;
    if (source.rows === "scores") {
      for (const row of await readScoreRows(source)) yield `${JSON.stringify(row)}\n`;
      return;
    }
    const ids = run.request.test_batch.map(({ id }) => id);
    const systemPrompts = run.request.test_batch.map(systemPromptOf);
    for await (const { scenario, attempt, turn, result } of reader.turns(run.id)) {
      const place = {
        run_id: run.id,
        ...(run.group && { model_name: run.group.name }),
        ...(run.request.dataset !== undefined && { dataset: run.request.dataset }),
        scenario_id: ids[scenario],
        attempt_id: attempt + 1,
        turn,
        ...(systemPrompts[scenario] && { system_prompt: systemPrompts[scenario] }),
      };
      // First for the reader, and once more so that a caller's own field cannot replace it.
      yield JSON.stringify({ ...place, ...result, ...place }) + "\n";
    }
  },
  /** The turns of all runs, one after another. */
  async *writeComparison({ runs }) {
    for (const source of await runs()) yield* jsonl.write(source);
  },
};
