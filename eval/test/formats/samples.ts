import { asFields, type Fields, isFields, tryParseJson } from "../../../shared/service/fields.ts";
import {
  ANSWER_NAMES,
  createSampleIds,
  EXPECTED_NAMES,
  findName,
  QUESTION_NAMES,
  REPLY_NAMES,
} from "../datasets/sample_names.ts";
import {
  answerOf,
  asPrompt,
  asReplies,
  type Chat,
  takeSystemPrompt,
  toChat,
  toScenario,
  withSystemPrompt,
} from "./chat_messages.ts";
import {
  type DatasetFormat,
  type Draft,
  type ImportContext,
  ImportError,
  isOurs,
  QUESTIONS,
  withReply,
} from "./format.ts";
import { type JsonRecord, readBeginning, readRecords } from "./lines.ts";
import { readReply } from "./replies.ts";
import { readTable, type Row } from "./table.ts";

/** Fields that hold the question or the conversation. The first that a sample has counts. */
const CONVERSATIONS = ["input", "messages", "conversations"];
const ASKED = [...CONVERSATIONS, ...QUESTION_NAMES];
/** Keys of an answer of several fields, the likeliest first. */
const ANSWERS = [...ANSWER_NAMES, "content", "text"];

/** Columns and fields of LangSmith that say nothing about the conversation. */
const BOOKKEEPING =
  /^(?:id|name|created_at|modified_at|dataset_id|source_run_id|split|metadata|attachments)$/;
/** Its columns that hold all keys of one side, or one of them. */
const INPUT = /^inputs?(?:[._](.+))?$/;
const OUTPUT = /^outputs?(?:[._](.+))?$/;
const REFERENCE = /^reference_outputs?(?:[._](.+))?$/;

/**
 * Samples with `messages` (or `input`) and `ideal`, as OpenAI's evals have them, and similar ones of
 * other tools; also the lines of a fine-tuning file, whose last message is the reference.
 */
export const openaiEvals: DatasetFormat = {
  name: "openai-evals",
  about: "OpenAI evals: messages or input, and ideal",
  recognises: ({ first }) => first !== undefined && !isOurs(first) && isSample(first),
  read: (pieces, context) => readSamples(readRecords(pieces), context),
};

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
  async *read(pieces, context) {
    const { beginning, all } = await readBeginning(pieces);
    const isJson = /^\ufeff?\s*[[{]/.test(beginning);
    yield* readSamples(isJson ? readRecords(all) : readRows(all, context), context);
  },
};

/** Whether a value is a sample, by its fields. */
function isSample(value: Fields): boolean {
  const has = (wanted: string[]) => findName(Object.keys(value), wanted) !== undefined;
  return isFields(value.item ?? value.datasource_item) || isInstruction(value) ||
    has(CONVERSATIONS) ||
    (has(QUESTION_NAMES) && has(ANSWER_NAMES));
}

/** Whether a table is an export of LangSmith, by the names of its columns. */
function isLangSmith(names: string[]): boolean {
  const others = names.filter((name) => name !== "output");
  // Beside input and expected, or an instruction, output is not what LangSmith means by it.
  return findName(others, ["instruction", ...ANSWER_NAMES]) === undefined &&
    names.some((name) => INPUT.test(name)) &&
    names.some((name) => REFERENCE.test(name) || OUTPUT.test(name));
}

async function* readSamples(
  records: AsyncIterable<JsonRecord>,
  { leaveOut, hasReplies }: ImportContext,
): AsyncGenerator<Draft> {
  const nameSample = createSampleIds({ mayRepeat: hasReplies });
  for await (const { line, name, value } of records) {
    if (!isFields(value)) throw new ImportError(line, "it is not an object");
    const { reply, attempt_id, sample } = hasReplies
      ? takeReply(value)
      : { reply: undefined, attempt_id: undefined, sample: value };
    const item = outOfItem(sample, { line, leaveOut });
    const chat = toConversation(item, { line, leaveOut, hasReplies });
    const draft = { line, scenario: toScenario(nameSample(item.id, name), chat) };
    yield reply === undefined ? draft : withReply(draft, reply, attempt_id);
  }
}

async function* readRows(
  pieces: AsyncIterable<string>,
  { leaveOut }: ImportContext,
): AsyncGenerator<JsonRecord> {
  for await (const row of readTable(pieces)) {
    const { others } = takeSystemPrompt(row.cells);
    const names = Object.keys(others);
    // The table of an experiment has what the model answered, too.
    const output = names.some((name) => REFERENCE.test(name)) ? REFERENCE : OUTPUT;
    const sides = names.filter((name) => INPUT.test(name) || output.test(name));
    for (const name of names) {
      if (!BOOKKEEPING.test(name) && !sides.includes(name)) leaveOut(`the column ${name}`, 1);
    }
    const { id, metadata = "" } = row.cells;
    const system = Object.entries(row.cells).filter(([name]) => !(name in others));
    const value = {
      ...Object.fromEntries(system),
      id,
      inputs: gather(row, INPUT),
      outputs: gather(row, output),
      metadata: parseCell(metadata),
    };
    yield { line: row.line, name: `line-${row.line}`, value };
  }
}

/** The keys of one side, from a column of JSON or from a column each. */
function gather({ cells, line }: Row, pattern: RegExp): Fields {
  const found: Fields = {};
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

type SampleContext = Pick<ImportContext, "leaveOut" | "hasReplies"> & { line: number };
type SideContext = SampleContext & { side: string };

function toConversation(value: Fields, context: SampleContext): Chat {
  const { line, leaveOut } = context;
  const { systemPrompt, others: sample } = takeSystemPrompt(
    isInstruction(value) ? fromInstruction(value) : value,
  );
  const names = Object.keys(sample);
  const isExample = "inputs" in sample;
  const question = isExample ? "inputs" : findName(names, ASKED);
  const asked = question === undefined ? undefined : sample[question];
  const said = withSystemPrompt(
    systemPrompt,
    toQuestion(asked, { ...context, side: question ?? "" }),
  );
  const chat = context.hasReplies ? asReplies(said) : said;
  const last = chat.turns.at(-1);
  const filled = names.filter((name) => (sample[name] ?? null) !== null);
  const reference = isExample ? findName(filled, ["reference_outputs", "outputs"]) : findName(
    filled,
    last?.reference_reply === undefined && !context.hasReplies ? ANSWER_NAMES : EXPECTED_NAMES,
  );
  for (const field of names) {
    const isUsed = [question, reference, "ideal", "id"].includes(field) ||
      isExample && (BOOKKEEPING.test(field) || field === "outputs");
    if (!isUsed) leaveOut(`the field ${field}`, line);
  }
  if (!last) {
    const known = isExample ? "inputs" : [...new Set(ASKED)].join(", ");
    throw new ImportError(line, `it has no user message; that may be in ${known}`);
  }
  if (isExample && Object.keys(asFields(sample.metadata)).length > 0) {
    last.metadata = sample.metadata;
  }
  if (reference === undefined) return chat;
  const answers = [sample[reference]].flat();
  const texts = answers.map((one) => toAnswer(one, { ...context, side: reference }));
  const [answer, ...more] = texts.filter((text) => text !== undefined);
  if (texts.includes(undefined) && !isExample) {
    leaveOut(`answers in ${reference} that are no text`, line);
  }
  if (answer === undefined) return chat;
  if (last.reference_reply !== undefined && last.reference_reply !== answer) {
    leaveOut(`the last message, because ${reference} is the reference`, line);
  }
  last.reference_reply = answer;
  if (more.length > 0) last.reference_replies = more;
  return asPrompt(chat);
}

function toQuestion(asked: unknown, context: SideContext): Chat {
  if (Array.isArray(asked)) return toChat(asked, context);
  if (typeof asked === "string") return { turns: [{ user_message: asked }] };
  if (!isFields(asked)) return { turns: [] };
  const { systemPrompt, others } = takeSystemPrompt(asked);
  const messages = messagesIn(others, context);
  const text = messages ? undefined : choose(others, QUESTIONS, context);
  // An empty row is reported, and not asked.
  const user_message = Object.keys(asked).length === 0 ? "" : text;
  return withSystemPrompt(
    systemPrompt,
    messages
      ? toChat(messages, context)
      : { turns: user_message === undefined ? [] : [{ user_message }] },
  );
}

/** Numbers and truth values are answers, too: `"ideal": 4`; and so are messages, and one of fields. */
function toAnswer(value: unknown, context: SideContext): string | undefined {
  if (["string", "number", "boolean"].includes(typeof value)) return String(value);
  if (!isFields(value)) return undefined;
  if ("role" in value || "from" in value) return answerOf(value);
  const messages = messagesIn(value, context);
  return messages
    ? toChat([{ role: "user", content: "" }, ...messages], context).turns.at(-1)?.reference_reply
    : choose(value, ANSWERS, context);
}

/** The chat messages of one side, if it has them; LangSmith has them in `input`, too. */
function messagesIn(values: Fields, { line, leaveOut, side }: SideContext): unknown[] | undefined {
  const name = ["messages", "input"].find((name) => Array.isArray(values[name]));
  if (name === undefined) return undefined;
  for (const other of Object.keys(values)) {
    if (other !== name) leaveOut(`${other} of ${side}`, line);
  }
  return values[name] as unknown[];
}

/** The text among the values of one side that has a likely name, or the first; others are left out. */
function choose(
  values: Fields,
  preferred: string[],
  { line, leaveOut, side }: SideContext,
): string | undefined {
  const texts = Object.entries(values).flatMap(([name, value]) => {
    // Numbers, truth values and single messages are answers, too.
    const text = typeof value === "object" ? answerOf(value) : String(value);
    return text === undefined ? [] : [{ name, text, isWritten: typeof value === "string" }];
  });
  const chosen = preferred.flatMap((name) => texts.find((found) => found.name === name) ?? [])[0] ??
    texts.find(({ isWritten }) => isWritten) ?? texts[0];
  for (const other of Object.keys(values)) {
    if (other !== chosen?.name && values[other] !== values[chosen?.name ?? ""]) {
      leaveOut(`${other} of ${side}`, line);
    }
  }
  return chosen?.text;
}

/** The reply among the fields of a sample, the number of the attempt, and the other fields. */
function takeReply(
  { attempt_id, epoch, sample: sampled, ...fields }: Fields,
): { reply: string | undefined; attempt_id: unknown; sample: Fields } {
  const name = findName(Object.keys(fields), REPLY_NAMES) ??
    ("reference_outputs" in fields && "outputs" in fields ? "outputs" : undefined);
  const { [name ?? ""]: reply, ...sample } = fields;
  const said = readReply(reply ?? sampled);
  return { reply: said, attempt_id: attempt_id ?? epoch, sample };
}

/** Data of OpenAI's evals API, which has the fields of a sample in `item`. */
function outOfItem(record: Fields, { line, leaveOut }: SampleContext): Fields {
  const { item = record.datasource_item, datasource_item: _, ...rest } = record;
  if (!isFields(item)) return record;
  for (const field of Object.keys(rest)) leaveOut(`the field ${field}`, line);
  return item;
}

/** Alpaca's form: what to do, what to do it with, which may be empty, and what comes out. */
function isInstruction({ instruction, output }: Fields): boolean {
  return typeof instruction === "string" && typeof output === "string";
}

function fromInstruction({ instruction, input, output, ...rest }: Fields): Fields {
  const question = [instruction, input].filter((text) => typeof text === "string" && text !== "");
  return { ...rest, input: question.join("\n\n"), ideal: output };
}
