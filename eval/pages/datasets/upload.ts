import type { ApiRequest } from "../../../shared/pages/api.ts";
import type { BatchDraft } from "../batch/batch_draft.ts";
import type { ColumnUse } from "../batch/batch_input.ts";
import type { Parameters } from "../source.ts";

/** Larger files are sent as they are, and only their beginning is looked at. */
export const LARGE_BYTES = 1_000_000;

const BEGINNING_BYTES = 64_000;

/** The first whole lines of a file. */
export async function readBeginning(file: File): Promise<string> {
  const text = await file.slice(0, BEGINNING_BYTES).text();
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

/** A file and the parameters of the request that writes it. */
interface UploadRequest {
  file: NonNullable<ApiRequest["file"]>;
  parameters: Parameters;
}

/**
 * What is sent. A table that was read whole is sent as the scenarios that the preview shows,
 * because the service refuses conversations whose rows are mixed. Anything else is sent as it is,
 * and the service detects its format.
 */
export function toUpload(
  draft: BatchDraft,
  { file, format }: { file: File | undefined; format: string | undefined },
): UploadRequest {
  const isTable = draft.input.value.kind === "csv" && (!format || format === "csv");
  if (isTable && !file && draft.scenarios.value.length > 0) {
    const lines = draft.scenarios.value.map((scenario) => JSON.stringify(scenario));
    return {
      file: { content: lines.join("\n"), type: "application/jsonl" },
      parameters: { format: "jsonl" },
    };
  }
  return {
    file: { content: file ?? draft.text.value, type: "application/octet-stream" },
    parameters: { format, ...(isTable && columnParameters(draft)) },
  };
}

/** The columns of a table, as the API has them. */
function columnParameters({ input, uses }: BatchDraft): Parameters {
  if (input.value.kind !== "csv") return {};
  // The service finds ids by the name of their column.
  const fields: Partial<Record<ColumnUse, (column: string) => string>> = {
    scenario: () => "scenario_id",
    system: () => "system_prompt",
    message: () => "user_message",
    reference: () => "reference_reply",
    metadata: (column) => `metadata.${column}`,
  };
  return Object.fromEntries(
    input.value.table.columns.flatMap((column, index) => {
      const field = fields[uses.value[index] ?? ""];
      return field ? [[`column.${field(column)}`, column]] : [];
    }),
  );
}
