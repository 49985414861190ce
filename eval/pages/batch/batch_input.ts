import { isFields } from "../../../shared/service/fields.ts";
import { errorMessage } from "../../../shared/service/errors.ts";
import type { z } from "zod";
import { isRunTable, unguardText } from "../../test/datasets/csv_rules.ts";
import {
  ANSWER_NAMES,
  createSampleIds,
  findName,
  QUESTION_NAMES,
  SYSTEM_NAMES,
} from "../../test/datasets/sample_names.ts";
import type { Interaction, Scenario } from "../../test/scenario.ts";
import { parseCsv } from "./csv.ts";

/** A turn and a scenario as they are sent; the service checks them. */
export type DraftTurn = z.input<typeof Interaction>;
export type DraftScenario = z.input<typeof Scenario>;

/** A table whose columns have to be named. */
export interface CsvTable {
  columns: string[];
  rows: string[][];
}

/**
 * What was pasted or uploaded. `request` has the other fields of a whole request body, which names a
 * dataset if it has no scenarios.
 */
export type BatchInput =
  | { kind: "empty" }
  | { kind: "json" | "jsonl"; scenarios: DraftScenario[]; request?: Record<string, unknown> }
  | { kind: "csv"; table: CsvTable }
  | { kind: "wrong"; reason: string };

/**
 * Reads a batch as the command line does: a request, scenarios, or lines of them; and also CSV.
 * `isBeginning`: it is the beginning of a file, which may end anywhere.
 */
export function readBatchInput(text: string, { isBeginning = false } = {}): BatchInput {
  const plain = text.replace(/^\ufeff/, "").trim();
  if (plain === "") return { kind: "empty" };
  if (!/^[[{]/.test(plain)) return readTable(plain, isBeginning);
  try {
    return toScenarios(JSON.parse(plain), "json");
  } catch (error) {
    return readLines(plain) ??
      { kind: "wrong", reason: `This is not JSON: ${errorMessage(error)}` };
  }
}

function readTable(text: string, isBeginning: boolean): BatchInput {
  const { rows: [columns = [], ...rows], unclosed } = parseCsv(text);
  if (columns.length < 2 || rows.length === 0) {
    return { kind: "wrong", reason: "This is neither JSON nor a table with a row of names." };
  }
  const again = columns.find((name, index) => name !== "" && columns.indexOf(name) !== index);
  if (again !== undefined) {
    return { kind: "wrong", reason: `There are several columns ${again}; name them differently.` };
  }
  if (unclosed !== undefined && !isBeginning) {
    return { kind: "wrong", reason: `The quote that begins in line ${unclosed} is never closed.` };
  }
  return { kind: "csv", table: { columns, rows } };
}

/** `undefined` if not even the first line is JSON: then it was meant as one value. */
function readLines(text: string): BatchInput | undefined {
  const values: unknown[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    try {
      values.push(JSON.parse(line));
    } catch (error) {
      if (values.length === 0) return undefined;
      return { kind: "wrong", reason: `Line ${index + 1} is not JSON: ${errorMessage(error)}` };
    }
  }
  return toScenarios(values, "jsonl");
}

function toScenarios(value: unknown, kind: "json" | "jsonl"): BatchInput {
  if (isFields(value) && "test_batch" in value) {
    const { test_batch, ...request } = value;
    const inner = toScenarios(test_batch, kind);
    return "scenarios" in inner ? { ...inner, request } : inner;
  }
  if (isFields(value) && isRequestOfDataset(value)) {
    return { kind, scenarios: [], request: value };
  }
  const list = Array.isArray(value) ? value : [value];
  if (list.length > 0 && list.every((item) => isFields(item) && "interactions" in item)) {
    return { kind, scenarios: list as DraftScenario[] };
  }
  if (list.length > 0 && list.every((item) => isFields(item) && "user_message" in item)) {
    return { kind, scenarios: list.map((turn, index) => wrap(turn as DraftTurn, index)) };
  }
  return {
    kind: "wrong",
    reason: "It must hold scenarios with interactions, or turns with a user_message.",
  };
}

/** Scenarios and turns may have a field of that name, too. */
function isRequestOfDataset(value: Record<string, unknown>): boolean {
  return typeof value.dataset === "string" && !("interactions" in value) &&
    !("user_message" in value);
}

/** A turn by itself is a conversation of one, which has its system prompt. */
function wrap(turn: DraftTurn, index: number): DraftScenario {
  const id = String(turn.id ?? index + 1);
  const { system_prompt, ...others } = turn;
  return typeof system_prompt === "string"
    ? { id, system_prompt, interactions: [{ ...others, id }] }
    : { id, interactions: [{ ...turn, id }] };
}

/** What a column of a table is. `""` is not used; a metadata column is called by its header. */
export type ColumnUse =
  | ""
  | "scenario"
  | "id"
  | "system"
  | "message"
  | "reference"
  | "metadata";

const GUESSES: [ColumnUse, RegExp][] = [
  ["scenario", /^(scenario|conversation|dialog(ue)?|session|thread)([ _-]?id)?$/i],
  ["reference", /(reference|expected|answer|ideal|target|output|reply|response)/i],
  ["message", /(message|question|prompt|input|query|user|text)/i],
  ["metadata", /^(intent|sentiment|label|category|tone|language)$/i],
];

/** What the columns are by their names; each use but labels is there once. */
export function guessUses(columns: string[]): ColumnUse[] {
  // Names that the service knows come first: `expected` is the reference, also after `output`.
  const known = new Map<string | undefined, ColumnUse>([
    [findName(columns, ["user_message", ...QUESTION_NAMES]), "message"],
    [findName(columns, ["reference_reply", ...ANSWER_NAMES]), "reference"],
    [
      findName(columns, columns.includes("user_message") ? ["system_prompt"] : SYSTEM_NAMES),
      "system",
    ],
    [findName(columns, ["id"]), "id"],
  ]);
  known.delete(undefined);
  const taken = new Set<ColumnUse>(known.values());
  const uses = columns.map((column): ColumnUse => {
    const use = known.get(column) ??
      GUESSES.find(([use, pattern]) => pattern.test(column.trim()) && !taken.has(use))?.[0];
    if (!use) return "";
    if (use !== "metadata") taken.add(use);
    return use;
  });
  // Rows of a conversation have its name.
  return uses.includes("scenario") ? uses.map((use) => use === "id" ? "" : use) : uses;
}

/**
 * Rows of the same scenario are the turns of one conversation; without that column each is one, with
 * its own `id` if it has one. In the CSV file of a run the rows of further attempts repeat the
 * conversation.
 */
export function toBatch({ columns, rows }: CsvTable, uses: ColumnUse[]): DraftScenario[] {
  const at = (use: ColumnUse) => uses.indexOf(use);
  const names = columns.map((name) => name.trim());
  const isRun = isRunTable(names) && !uses[names.indexOf("attempt_id")];
  const textOf = (text = "") => isRun ? unguardText(text) : text;
  const nameOf = (row: string[]) => textOf(row[at("scenario")]).trim();
  const idAt = at("id");
  const nameSample = createSampleIds();
  const named = new Set(rows.map((row) => nameOf(row) || row[idAt]?.trim()));
  const scenarios = new Map<string, DraftScenario>();
  const attemptAt = isRun ? names.indexOf("attempt_id") : -1;
  const attempts = new Map<string, string | undefined>();
  for (const [index, row] of rows.entries()) {
    const number = String(index + 1);
    const id = nameOf(row) ||
      nameSample(row[idAt], named.has(number) ? `row-${number}` : number);
    const scenario = scenarios.get(id) ?? { id, interactions: [] };
    scenarios.set(id, scenario);
    if (!attempts.has(id)) attempts.set(id, row[attemptAt]);
    if (attempts.get(id) !== row[attemptAt]) continue;
    // The first in a conversation counts.
    const systemPrompt = textOf(row[at("system")]);
    if (systemPrompt) scenario.system_prompt ??= systemPrompt;
    const metadata = Object.fromEntries(
      names.flatMap((name, column) =>
        uses[column] === "metadata" && row[column] ? [[name, textOf(row[column])]] : []
      ),
    );
    const reference = textOf(row[at("reference")]);
    scenario.interactions.push({
      id: String(scenario.interactions.length + 1),
      user_message: textOf(row[at("message")]),
      ...(reference && { reference_reply: reference }),
      ...(Object.keys(metadata).length > 0 && { reference_metadata: metadata }),
    });
  }
  return [...scenarios.values()];
}
