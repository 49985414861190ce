import {
  asPrompt,
  type Chat,
  chooseAnswer,
  chooseQuestion,
  type SideContext,
  takeSystemPrompt,
  toChat,
  toScenario,
  withSystemPrompt,
} from "./chat_messages.ts";
import { type DatasetFormat, type ImportContext, ImportError, isOurs } from "./format.ts";
import { type Fields, isFields, tryParseJson } from "../../../shared/fields.ts";
import { ANSWER_NAMES, findName } from "../sample_names.ts";
import { type JsonRecord, readBeginning, readRecords } from "./lines.ts";
import { readTable, type Row } from "./table.ts";

/** Columns and fields of an export that say nothing about the conversation. */
const BOOKKEEPING =
  /^(?:id|name|created_at|modified_at|dataset_id|source_run_id|split|metadata|attachments)$/;

/** Columns that hold all keys of one side, or one of them. */
const INPUT = /^inputs?(?:[._](.+))?$/;
const OUTPUT = /^outputs?(?:[._](.+))?$/;
const REFERENCE = /^reference_outputs?(?:[._](.+))?$/;

/**
 * An export of a LangSmith dataset. In CSV, `inputs` and `outputs` hold JSON objects, or each of
 * their keys has a column (`inputs.question`, `input_question`); in JSON, examples are objects.
 */
export const langsmith: DatasetFormat = {
  name: "langsmith",
  about: "a dataset of LangSmith as CSV, JSONL or JSON",
  recognises: ({ columns, hasMapping, first }) =>
    columns
      ? !hasMapping && !columns.includes("user_message") && isLangSmith(columns)
      : first !== undefined && !isOurs(first) && "inputs" in first,
  async *read(pieces, { leaveOut }) {
    for await (const example of readExamples(pieces, leaveOut)) {
      const chat = toConversation(example, leaveOut);
      yield { line: example.line, scenario: toScenario(example.id, chat) };
    }
  },
};

/** One example: what goes in, and what should come out. */
interface Example {
  line: number;
  id: string;
  /** Of a field or a column beside the inputs; empty if there is none. */
  systemPrompt: string;
  inputs: Fields;
  outputs: Fields;
  /** Kept with the turn; unset if there is none. */
  metadata: unknown;
}

async function* readExamples(
  pieces: AsyncIterable<string>,
  leaveOut: ImportContext["leaveOut"],
): AsyncGenerator<Example> {
  const { beginning, all } = await readBeginning(pieces);
  if (/^\ufeff?\s*[[{]/.test(beginning)) {
    for await (const record of readRecords(all)) yield fromRecord(record, leaveOut);
  } else {
    for await (const row of readTable(all)) yield fromRow(row, leaveOut);
  }
}

function fromRecord(
  { line, name, value }: JsonRecord,
  leaveOut: ImportContext["leaveOut"],
): Example {
  if (!isFields(value)) throw new ImportError(line, "it is not an object");
  const { systemPrompt, others } = takeSystemPrompt(value);
  const { id, inputs, outputs, reference_outputs = outputs, metadata, ...rest } = others;
  for (const field of Object.keys(rest)) {
    if (!BOOKKEEPING.test(field)) leaveOut(`the field ${field}`, line);
  }
  return {
    line,
    id: typeof id === "string" && id.trim() !== "" ? id.trim() : name,
    systemPrompt,
    inputs: isFields(inputs) ? inputs : { input: inputs },
    outputs: isFields(reference_outputs)
      ? reference_outputs
      : reference_outputs === null || reference_outputs === undefined
      ? {}
      : { output: reference_outputs },
    metadata: isFields(metadata) && Object.keys(metadata).length > 0 ? metadata : undefined,
  };
}

/** Whether a table is such an export, by the names of its columns. */
function isLangSmith(names: string[]): boolean {
  const others = names.filter((name) => name !== "output");
  // Beside input and expected, or an instruction, output is not what LangSmith means by it.
  return findName(others, ["instruction", ...ANSWER_NAMES]) === undefined &&
    names.some((name) => INPUT.test(name)) &&
    names.some((name) => REFERENCE.test(name) || OUTPUT.test(name));
}

function fromRow(row: Row, leaveOut: ImportContext["leaveOut"]): Example {
  const { systemPrompt, others } = takeSystemPrompt(row.cells);
  const names = Object.keys(others);
  // The table of an experiment has what the model answered, too.
  const output = names.some((name) => REFERENCE.test(name)) ? REFERENCE : OUTPUT;
  for (const name of names) {
    const isKnown = BOOKKEEPING.test(name) || INPUT.test(name) || output.test(name);
    if (!isKnown) leaveOut(`the column ${name}`, 1);
  }
  return {
    line: row.line,
    id: row.cells.id?.trim() || `line-${row.line}`,
    systemPrompt,
    inputs: gather(row, INPUT),
    outputs: gather(row, output),
    metadata: row.cells.metadata ? parseCell(row.cells.metadata) : undefined,
  };
}

function toConversation(
  { line, systemPrompt, inputs: fields, outputs, metadata }: Example,
  leaveOut: ImportContext["leaveOut"],
): Chat {
  const context = { line, leaveOut };
  const { systemPrompt: own, others: inputs } = takeSystemPrompt(fields);
  const asked = messagesIn(inputs, { ...context, side: "inputs" });
  const chat = withSystemPrompt(
    own || systemPrompt,
    asked ? toChat(asked, context) : toTurn(chooseQuestion(inputs, { ...context, side: "inputs" })),
  );
  if (Object.keys(inputs).length === 0) chat.turns.push({ user_message: "" });
  const last = chat.turns.at(-1);
  if (!last) throw new ImportError(line, "there is no question in inputs");
  const answered = messagesIn(outputs, { ...context, side: "outputs" });
  const answer = answered
    ? toChat([{ role: "user", content: "" }, ...answered], context).turns.at(-1)?.reference_reply
    : chooseAnswer(outputs, { ...context, side: "outputs" });
  if (metadata !== undefined) last.metadata = metadata;
  if (answer === undefined) return chat;
  last.reference_reply = answer;
  return asPrompt(chat);
}

/** The chat messages of one side, if it has them; datasets of the type `chat` have them in `input`. */
function messagesIn(values: Fields, { line, leaveOut, side }: SideContext): unknown[] | undefined {
  const name = ["messages", "input"].find((name) => Array.isArray(values[name]));
  if (name === undefined) return undefined;
  for (const other of Object.keys(values)) {
    if (other !== name) leaveOut(`${other} of ${side}`, line);
  }
  return values[name] as unknown[];
}

function toTurn(question: string | undefined): Chat {
  return { turns: question === undefined ? [] : [{ user_message: question }] };
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

/** A cell that begins like JSON but is not stays a text. */
function parseCell(cell: string): unknown {
  return /^\s*[[{]/.test(cell) ? tryParseJson(cell) ?? cell : cell;
}
