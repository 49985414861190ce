import type { ExportFormat } from "./format.ts";

/** One line per turn: all that is known about it, and where it belongs, as the API counts it. */
export const jsonl: ExportFormat = {
  name: "jsonl",
  extension: "jsonl",
  contentType: "application/jsonl",
  async *write({ run, reader }) {
    const ids = run.request.test_batch.map(({ id }) => id);
    for await (const { scenario, attempt, turn, result } of reader.turns(run.id)) {
      const place = {
        run_id: run.id,
        ...(run.group && { model_name: run.group.name }),
        scenario_id: ids[scenario],
        attempt_id: attempt + 1,
        turn,
      };
      // First for the reader, and once more so that a caller's own field cannot replace it.
      yield JSON.stringify({ ...place, ...result, ...place }) + "\n";
    }
  },
};
