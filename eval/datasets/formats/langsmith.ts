import { answerOf, type ChatTurn, toTurns } from "./chat_messages.ts";
import { type DatasetFormat, type ImportContext, ImportError } from "./format.ts";
import { isFields } from "../../../shared/fields.ts";
import { readTable, type Row } from "./table.ts";

/** Keys that hold the question or the answer, the likeliest first. */
const QUESTIONS = ["question", "input", "query", "prompt", "message", "user_message", "text"];
const ANSWERS = ["answer", "output", "response", "expected", "reference", "content", "text"];

/** Columns of an export that say nothing about the conversation. */
const BOOKKEEPING = /^(?:id|name|created_at|modified_at|dataset_id|source_run_id|split|metadata)$/;

/**
 * The CSV export of a LangSmith dataset: `inputs` and `outputs` hold JSON objects, or each of their
 * keys has a column (`inputs.question`, `input_question`).
 */
export const langsmith: DatasetFormat = {
  name: "langsmith",
  about: "a dataset of LangSmith, exported as CSV",
  async *read(pieces, { leaveOut }) {
    for await (const row of readTable(pieces)) {
      const interactions = readExample(row, leaveOut)
        .map((turn, index) => ({ id: String(index + 1), ...turn }));
      const id = row.cells.id?.trim() || `line-${row.line}`;
      yield { line: row.line, scenario: { id, interactions } };
    }
  },
};

/** Whether a table is such an export, by the names of its columns. */
export function isLangSmith(names: string[]): boolean {
  return names.some((name) => /^inputs?(?:[._]|$)/.test(name)) &&
    names.some((name) => /^(?:reference_)?outputs?(?:[._]|$)/.test(name));
}

function readExample(row: Row, leaveOut: ImportContext["leaveOut"]): ChatTurn[] {
  const context = { line: row.line, leaveOut };
  const inputs = gather(row, /^inputs?(?:[._](.+))?$/);
  const outputs = gather(row, /^(?:reference_)?outputs?(?:[._](.+))?$/);
  for (const name of Object.keys(row.cells)) {
    const isKnown = BOOKKEEPING.test(name) ||
      /^(?:reference_)?(?:in|out)puts?(?:[._]|$)/.test(name);
    if (!isKnown) leaveOut(`the column ${name}`, 1);
  }
  for (const [side, values] of Object.entries({ inputs, outputs })) {
    if (!Array.isArray(values.messages)) continue;
    for (const name of Object.keys(values)) {
      if (name !== "messages") leaveOut(`${name} of ${side}`, row.line);
    }
  }
  const turns = Array.isArray(inputs.messages)
    ? toTurns(inputs.messages, context)
    : toTurn(choose(inputs, QUESTIONS, { ...context, side: "inputs" }));
  const last = turns.at(-1);
  if (!last) throw new ImportError(row.line, "there is no question in inputs");
  const answer = Array.isArray(outputs.messages)
    ? toTurns([{ role: "user", content: "" }, ...outputs.messages], context).at(-1)?.reference_reply
    : choose(outputs, ANSWERS, { ...context, side: "outputs" });
  if (answer !== undefined) last.reference_reply = answer;
  return turns;
}

function toTurn(question: string | undefined): ChatTurn[] {
  return question === undefined ? [] : [{ user_message: question }];
}

/** The keys of one side, from a column of JSON or from a column each. */
function gather({ cells, line }: Row, pattern: RegExp): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, cell] of Object.entries(cells)) {
    const match = pattern.exec(name);
    if (!match || cell === "") continue;
    const value = parseCell(cell);
    if (match[1] !== undefined) found[match[1]] = value;
    else if (isFields(value)) Object.assign(found, value);
    else if (typeof value === "string") found.input = found.output = value;
    else throw new ImportError(line, `the column ${name} holds neither an object nor a text`);
  }
  return found;
}

/** A text that looks like JSON may also be a text. */
function parseCell(cell: string): unknown {
  if (!/^\s*[[{]/.test(cell)) return cell;
  try {
    return JSON.parse(cell);
  } catch {
    return cell;
  }
}

function choose(
  values: Record<string, unknown>,
  preferred: string[],
  { line, leaveOut, side }: Pick<ImportContext, "leaveOut"> & { line: number; side: string },
): string | undefined {
  const texts = Object.entries(values).flatMap(([name, value]) => {
    const text = textOf(value);
    return text === undefined ? [] : [{ name, text, isWritten: typeof value === "string" }];
  });
  const chosen = preferred.flatMap((name) => texts.find((found) => found.name === name) ?? [])[0] ??
    texts.find(({ isWritten }) => isWritten) ?? texts[0];
  const key = chosen?.name;
  for (const other of Object.keys(values)) {
    if (other !== key && values[other] !== values[key ?? ""]) {
      leaveOut(`${other} of ${side}`, line);
    }
  }
  return chosen?.text;
}

/** Numbers, truth values and single messages are answers, too. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "object") return answerOf(value);
  return value === undefined ? undefined : String(value);
}
