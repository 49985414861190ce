import { resultPieces } from "../runs/run_result.ts";
import type { ExportFormat } from "./format.ts";

/** The run's result as `POST /evaluate` answers it (spec 2.4). */
export const json: ExportFormat = {
  name: "json",
  extension: "json",
  contentType: "application/json",
  async *write({ run, reader }) {
    yield* resultPieces(reader, run);
    yield "\n";
  },
};
