import { formatNumberOf } from "../../../shared/pages/format.ts";
import { TableFrame } from "../../../shared/pages/components/data_table.tsx";
import { Section } from "../parts/section.tsx";
import { Select } from "../parts/fields.tsx";
import type { ColumnUse, CsvTable } from "./batch_input.ts";
import type { BatchDraft } from "./batch_draft.ts";

const SHOWN = 5;
const USES: Record<ColumnUse, string> = {
  "": "not used",
  scenario: "conversation",
  id: "id",
  system: "system prompt",
  message: "user message",
  reference: "reference reply",
  metadata: "expected label",
};

/** What will be asked: the first rows, and of a table what its columns are. */
export function Preview({ draft }: { draft: BatchDraft }) {
  const input = draft.input.value;
  const { scenarios } = draft;
  if (input.kind === "csv") return <Columns table={input.table} draft={draft} />;
  if (scenarios.value.length === 0) return null;
  const turns = scenarios.value.slice(0, SHOWN).flatMap(({ id, interactions }) =>
    (Array.isArray(interactions) ? interactions : []).map((turn) => ({ scenario: id, turn }))
  );
  const isCut = scenarios.value.length > SHOWN || turns.length > SHOWN;
  return (
    <Section
      title="Preview"
      hint={`${isCut ? "The first of " : ""}${formatNumberOf(scenarios.value.length, "scenario")}`}
    >
      <TableFrame label="Preview" isFlat>
        <thead>
          <tr>
            <th scope="col">Scenario</th>
            <th scope="col">User message</th>
            <th scope="col">Reference reply</th>
          </tr>
        </thead>
        <tbody>
          {turns.slice(0, SHOWN).map(({ scenario, turn }, index) => (
            <tr key={index}>
              <td dir="auto">{String(scenario ?? "")}</td>
              <td dir="auto">{cut(turn?.user_message)}</td>
              <td dir="auto">{cut(turn?.reference_reply)}</td>
            </tr>
          ))}
        </tbody>
      </TableFrame>
    </Section>
  );
}

function cut(value: unknown): string {
  const text = typeof value === "string" ? value : "";
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function Columns({ table: { columns, rows }, draft }: { table: CsvTable; draft: BatchDraft }) {
  const uses = draft.uses.value;
  return (
    <Section
      title="Columns"
      hint={uses.includes("message")
        ? `${rows.length > SHOWN ? "The first of " : ""}${
          formatNumberOf(rows.length, "row")
        }. Rows of the same conversation are its turns.`
        : "Say which column has the user's messages."}
    >
      <TableFrame label="Columns" isFlat>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={index} scope="col">
                <div dir="auto">{column}</div>
                <Select
                  aria-label={`What ${column} is`}
                  options={Object.entries(USES)}
                  value={uses[index] ?? ""}
                  onChoose={(use) => draft.setUse(index, use as ColumnUse)}
                />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN).map((row, index) => (
            <tr key={index}>
              {columns.map((_, column) => <td key={column} dir="auto">{cut(row[column])}</td>)}
            </tr>
          ))}
        </tbody>
      </TableFrame>
    </Section>
  );
}
