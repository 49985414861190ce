import type { ColumnMapping } from "./formats/format.ts";

const METADATA = "metadata.";

/** The fields that a column can hold, in words for people. */
export const COLUMN_FIELDS =
  "user_message, reference_reply, system_prompt, scenario_id or metadata.NAME";

/** The mapping with one more column; `undefined` if there is no such field. */
export function mapColumn(
  columns: ColumnMapping,
  { field, column }: { field: string; column: string },
): ColumnMapping | undefined {
  if (column === "") return undefined;
  if (field.startsWith(METADATA) && field !== METADATA) {
    const name = field.slice(METADATA.length);
    return { ...columns, metadata: { ...columns.metadata, [name]: column } };
  }
  if (
    field === "user_message" || field === "reference_reply" || field === "system_prompt" ||
    field === "scenario_id"
  ) {
    return { ...columns, [field]: column };
  }
  return undefined;
}
