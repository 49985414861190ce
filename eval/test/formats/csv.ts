import { isRunTable, unguardText } from "../datasets/csv_rules.ts";
import {
  ANSWER_NAMES,
  createSampleIds,
  EXPECTED_NAMES,
  findName,
  QUESTION_NAMES,
  REPLY_NAMES,
  SYSTEM_NAMES,
} from "../datasets/sample_names.ts";
import { tryParseJson } from "../../../shared/service/fields.ts";
import { shorten } from "../../../shared/service/text.ts";
import { type ColumnMapping, type DatasetFormat, ImportError } from "./format.ts";
import { readTable, type Row } from "./table.ts";

/** The column that a table needs, unless a mapping names another one. */
const USER_MESSAGE = "user_message";
const REFERENCE_REPLY = "reference_reply";
/** A JSON list of further references, as the CSV file of a run has them. */
const REFERENCE_REPLIES = "reference_replies";
const SCENARIO_ID = "scenario_id";
/** In the CSV file of a run: the rows of further attempts repeat the conversation. */
const ATTEMPT_ID = "attempt_id";

/** A column such as `metadata.intent` holds a label. */
const METADATA = "metadata.";

/** Columns that are labels by their names alone. */
const LABELS = ["intent", "sentiment"];

/** Columns that a message names, and how much of each name. */
const MOST_NAMED = 50;
const LONGEST_NAMED = 100;

export const csv: DatasetFormat = {
  name: "csv",
  about: "a table with one turn per row; see --column",
  recognises: ({ columns, hasMapping }) => hasMapping || columns !== undefined,
  async *read(pieces, { columns, leaveOut, hasReplies }) {
    let current: OpenScenario | undefined;
    let plan: Plan | undefined;
    const seen = new Set<string>();
    const nameSample = createSampleIds({ mayRepeat: hasReplies });
    for await (const row of readTable(pieces)) {
      plan ??= planColumns(Object.keys(row.cells), { ...columns, hasReplies });
      for (const name of plan.unused) leaveOut(`the column ${name}`, 1);
      plan.unused = [];
      const id = textOf(row, plan, plan.scenarioId).trim();
      const attempt = attemptOf(row, plan);
      const isNextAttempt = hasReplies && current?.attempt !== attempt;
      if (!current || id === "" || current.scenario.id !== id || isNextAttempt) {
        if (current) yield current;
        // To collect its rows from everywhere would need the whole file in memory.
        const key = hasReplies ? `${id}/${attempt}` : id;
        if (seen.has(key)) {
          throw new ImportError(
            row.line,
            `the scenario ${id} has rows further up, and others between; put its rows together`,
          );
        }
        if (id !== "") seen.add(key);
        current = {
          line: row.line,
          attempt,
          scenario: {
            ...(hasReplies && Number(attempt) >= 1 && { attempt_id: Number(attempt) }),
            id: id || nameSample(textOf(row, plan, plan.sampleId), `line-${row.line}`),
            interactions: [],
          },
        };
      }
      if (attempt !== current.attempt) {
        leaveOut(`rows of further attempts (${ATTEMPT_ID})`, row.line);
        continue;
      }
      const { scenario } = current;
      const systemPrompt = textOf(row, plan, plan.systemPrompt);
      if (systemPrompt !== "") scenario.system_prompt ??= systemPrompt;
      if (systemPrompt !== "" && scenario.system_prompt !== systemPrompt) {
        leaveOut("further system prompts of a conversation", row.line);
      }
      const { interactions } = scenario;
      interactions.push({ id: String(interactions.length + 1), ...toTurn(row, plan) });
    }
    if (current) yield current;
  },
};

interface OpenScenario {
  line: number;
  /** The attempt of its first row. */
  attempt: string | undefined;
  scenario: { id: string; system_prompt?: string; interactions: Record<string, unknown>[] };
}

interface Plan {
  /** Usually one; the texts of several are joined. */
  userMessage: string[];
  referenceReply: string | undefined;
  scenarioId: string | undefined;
  /** Unlike with `scenarioId`, rows with the same value are not one conversation. */
  sampleId: string | undefined;
  /** The first in a conversation counts. */
  systemPrompt: string | undefined;
  /** Label to column. */
  metadata: [string, string][];
  unused: string[];
  /** It is the CSV file of a run. */
  isRun: boolean;
  /** Set if the table has the replies that are scored. */
  reply: string | undefined;
  attempt: string | undefined;
}

function planColumns(
  names: string[],
  { hasReplies, ...columns }: ColumnMapping & { hasReplies: boolean | undefined },
): Plan {
  const find = (wanted: string | undefined, ownName: string): string | undefined => {
    const name = (wanted ?? ownName).trim();
    if (names.includes(name)) return name;
    if (wanted === undefined) return undefined;
    throw new ImportError(1, `there is no column ${wanted}; ${list(names)}`);
  };
  const named = Object.entries(columns.metadata ?? {})
    .map(([label, column]): [string, string] => [label, find(column, column)!]);
  const mapped = new Set([columns.scenario_id?.trim(), ...named.map(([, column]) => column)]);
  const others = names.filter((name) => !mapped.has(name));
  const ofOtherTool = findSampleColumns(others, hasReplies);
  const ownMessage = find(columns.user_message, USER_MESSAGE);
  const userMessage = ownMessage === undefined ? ofOtherTool?.question : [ownMessage];
  if (!userMessage) {
    throw new ImportError(
      1,
      `there is no column ${USER_MESSAGE}; name the one that holds it: --column ` +
        `${USER_MESSAGE}=NAME, or column.${USER_MESSAGE}=NAME over HTTP (${list(names)})`,
    );
  }
  const own = names.filter((name) => name.startsWith(METADATA) || isLabel(name, names))
    .map((name): [string, string] => [name.replace(METADATA, ""), name])
    .filter(([label]) => !named.some(([other]) => other === label));
  const scenarioId = find(columns.scenario_id, SCENARIO_ID);
  const plan = {
    userMessage,
    referenceReply: find(columns.reference_reply, REFERENCE_REPLY) ?? ofOtherTool?.answer ??
      (names.includes(USER_MESSAGE) ? findName(others, EXPECTED_NAMES) : undefined),
    scenarioId,
    sampleId: scenarioId === undefined ? findName(names, ["id"]) : undefined,
    // In a table with our names, `system` may be what was tested.
    systemPrompt: columns.system_prompt === undefined
      ? findName(others, ofOtherTool ? SYSTEM_NAMES : ["system_prompt"])
      : find(columns.system_prompt, columns.system_prompt),
    metadata: [...own, ...named],
  };
  const used = new Set([
    ...plan.userMessage,
    plan.referenceReply,
    plan.scenarioId,
    plan.sampleId,
    plan.systemPrompt,
    REFERENCE_REPLIES,
    ...plan.metadata.map(([, column]) => column),
  ]);
  const isRun = isRunTable(names) && plan.scenarioId === SCENARIO_ID && !used.has(ATTEMPT_ID);
  const reply = hasReplies ? findName(others, REPLY_NAMES) : undefined;
  const attempt = isRun || (hasReplies && names.includes(ATTEMPT_ID)) ? ATTEMPT_ID : undefined;
  for (const name of [reply, attempt]) used.add(name);
  return { ...plan, reply, attempt, unused: names.filter((name) => !used.has(name)), isRun };
}

function isLabel(name: string, names: string[]): boolean {
  return LABELS.includes(name) && !names.includes(METADATA + name);
}

/** The columns of a table that has the names of another tool; `undefined` if it has ours, or others. */
function findSampleColumns(
  names: string[],
  hasReplies: boolean | undefined,
): { question: string[]; answer: string } | undefined {
  if (names.includes(USER_MESSAGE)) return undefined;
  const answer = findName(names, hasReplies ? EXPECTED_NAMES : ANSWER_NAMES);
  // Alpaca's form: what to do, and what to do it with, which may be empty.
  const question = [findName(names, ["instruction"]), findName(names, QUESTION_NAMES)]
    .filter((name) => name !== undefined);
  return answer === undefined || question.length === 0 ? undefined : { question, answer };
}

/** `undefined` in other tables: all their rows are read. */
function attemptOf({ cells }: Row, { attempt }: Plan): string | undefined {
  return attempt === undefined ? undefined : cells[attempt];
}

function list(names: string[]): string {
  const shown = names.slice(0, MOST_NAMED).map((name) => shorten(name, LONGEST_NAMED, "…"));
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return `the columns are ${shown.join(", ")}${more}`;
}

/** The text of a cell as it was written to the file; empty if there is no such column. */
function textOf({ cells }: Row, { isRun }: Plan, column: string | undefined): string {
  const text = column === undefined ? "" : cells[column]!;
  return isRun ? unguardText(text) : text;
}

/** Empty cells add neither a label nor a reference. */
function toTurn(row: Row, plan: Plan) {
  const { userMessage, referenceReply, metadata } = plan;
  const reference = textOf(row, plan, referenceReply);
  const replies = tryParseJson(row.cells[REFERENCE_REPLIES] ?? "");
  const labels = metadata.map(([label, column]) => [label, textOf(row, plan, column)])
    .filter(([, value]) => value !== "");
  return {
    user_message: userMessage.map((column) => textOf(row, plan, column))
      .filter((text, index) => index === 0 || text !== "").join("\n\n"),
    ...(plan.reply !== undefined && { agent_reply: textOf(row, plan, plan.reply) }),
    ...(reference !== "" && { reference_reply: reference }),
    ...(Array.isArray(replies) && { reference_replies: replies.map(String) }),
    ...(labels.length > 0 && { reference_metadata: Object.fromEntries(labels) }),
  };
}
