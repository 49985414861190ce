import { systemPromptOf } from "../../test/scenario.ts";
import { mean } from "../../score/mean.ts";
import { causesOf } from "../../figures/causes.ts";
import { agreementOf } from "../../test/barred.ts";
import type { StoredTurn } from "../../store/turn_record.ts";
import {
  BYTE_ORDER_MARK,
  type CsvCell,
  readScoreRows,
  writeRow,
  writeScoreTable,
} from "../text/score_rows.ts";
import { readNumbers } from "../text/run_numbers.ts";
import type { ExportFormat } from "../format.ts";
import type { Comparison } from "../../figures/compare_stored.ts";

type Column = [name: string, value: (turn: StoredTurn) => CsvCell];

/** A field of the result as JSON; empty if the turn does not have it. */
function jsonColumn(name: keyof StoredTurn["result"]): Column {
  return [name, ({ result }) => result[name] ? JSON.stringify(result[name]) : undefined];
}

/** One row per turn, one column per score, or a row per score; safe to open in a spreadsheet. */
export const csv: ExportFormat = {
  name: "csv",
  about: "one row per turn (RFC 4180), with a byte order mark for spreadsheets; `bom=off` " +
    "leaves it out. Text that looks like a formula gets an apostrophe",
  extension: "csv",
  contentType: "text/csv; charset=utf-8; header=present",
  uses: ["rows", "threshold"],
  async *write(source) {
    if (source.hasBom ?? true) yield BYTE_ORDER_MARK;
    if (source.rows === "scores") return yield writeScoreTable(await readScoreRows(source));
    const { run, reader, threshold } = source;
    const { scoreNames, graded, cost, judge_cost, check_counts } = await readNumbers(source);
    const ids = run.request.test_batch.map(({ id }) => id);
    const systemPrompts = run.request.test_batch.map(systemPromptOf);
    const columns: Column[] = [
      ["run_id", () => run.id],
      ["scenario_id", ({ scenario }) => ids[scenario]],
      ["attempt_id", ({ attempt }) => attempt + 1],
      ["turn", ({ turn }) => turn],
      ["interaction_id", ({ result }) => result.id],
      ["interaction_type", ({ result }) => result.interaction_type],
      ["user_message", ({ result }) => result.user_message],
      ["reference_reply", ({ result }) => result.reference_reply],
      jsonColumn("reference_replies"),
      ["agent_reply", ({ result }) => result.agent_reply],
      jsonColumn("reference_metadata"),
      jsonColumn("generated_metadata"),
      ["latency_ms", ({ result }) => result.latency_ms],
      ["first_token_ms", ({ result }) => result.first_token_ms],
      ["input_tokens", ({ result }) => result.usage?.input_tokens],
      ["output_tokens", ({ result }) => result.usage?.output_tokens],
      ["finish_reason", ({ result }) => result.finish_reason],
      ["truncated", ({ result }) => result.truncated && "true"],
      ["reasoning", ({ result }) => result.reasoning],
      ["error_code", ({ result }) => result.error?.code],
      ["error_status", ({ result }) => result.error?.status],
      ["error_detail", ({ result }) => result.error?.detail],
      jsonColumn("missing_scores"),
      jsonColumn("score_methods"),
      ["agreement", ({ result }) => agreementOf(result)],
      ["wrong_values", ({ result }) => result.wrong_values?.join("; ")],
      ["differs_in", ({ result }) => result.differs_in?.join(" ")],
      [
        "why",
        ({ result }) => causesOf(result, threshold).map(({ text }) => text).join("; ") || undefined,
      ],
      ...(run.request.dataset === undefined
        ? []
        : [["dataset", () => run.request.dataset] as Column]),
      ...(systemPrompts.some((text) => text !== "")
        ? [["system_prompt", ({ scenario }) => systemPrompts[scenario]] as Column]
        : []),
      ...(run.parentId === null ? [] : RETRY_COLUMNS),
      ...(cost ?? judge_cost ? COST_COLUMNS : []),
      ...(check_counts ? CHECK_COLUMNS : []),
      ...(scoreNames.includes("tools") ? TOOL_COLUMNS : []),
      ...(graded.turns > 0 ? GRADE_COLUMNS : []),
      ...scoreNames.map((name): Column => [name, ({ result }) => result.scores[name]]),
    ];
    yield writeRow(columns.map(([name]) => name));
    for await (const turn of reader.turns(run.id)) {
      yield writeRow(columns.map(([, value]) => value(turn)));
    }
  },
  async *writeComparison({ result, hasBom = true }) {
    if (hasBom) yield BYTE_ORDER_MARK;
    yield writeComparisonTable(result);
  },
};

/** Only in runs with both histories. */

/** Only in retries: the run that asked the turn and paid for it, if it is another one. */
const RETRY_COLUMNS: Column[] = [
  ["copied_from_run", ({ result }) => result.copied_from_run],
  ["reply_from_run", ({ result }) => result.reply_from_run],
];

/** Only in runs with prices. */
const COST_COLUMNS: Column[] = [
  ["cost", ({ result }) => result.cost?.amount],
  ["cost_currency", ({ result }) => result.cost?.currency],
  ["judge_cost", ({ result }) => result.judge_cost?.amount],
  ["judge_cost_currency", ({ result }) => result.judge_cost?.currency],
];

/** Only in runs with checks. */
const CHECK_COLUMNS: Column[] = [
  [
    "failed_checks",
    ({ result }) =>
      result.check_results?.filter(({ value }) => value === 0).map(({ name }) => name).join("; "),
  ],
  jsonColumn("check_results"),
];

/** Only in runs that expect tool calls. */
const TOOL_COLUMNS: Column[] = [
  jsonColumn("reference_tools"),
  jsonColumn("tool_calls"),
];

/** Only in runs that people graded. */
const GRADE_COLUMNS: Column[] = [
  ["grade", ({ result }) => result.grades && mean(result.grades.map(({ value }) => value))],
  jsonColumn("grades"),
];

const COLUMNS = [
  "kind",
  "group_id",
  "model",
  "against",
  "run_id",
  "status",
  "score",
  "value",
  "ci95_low",
  "ci95_high",
  "scenarios",
  "turns",
  "failed",
  "missing",
  "p",
  "verdict",
  "cost",
  "cost_currency",
];

function modelRows({ group_id, runs }: Comparison): CsvCell[][] {
  return runs.flatMap(({ name, run_id, status, scores, cost }) =>
    Object.entries(scores ?? {}).map(([score, found]) => [
      ...["model", group_id, name, null, run_id, status, score],
      ...[found.mean, found.ci95?.[0], found.ci95?.[1], found.n],
      ...[found.turns, found.failed, found.missing],
      ...[null, null, cost?.amount, cost?.currency],
    ])
  );
}

/** `value` is the difference: the model − the one against it. */
function pairRows({ group_id, pairs }: Comparison): CsvCell[][] {
  return (pairs ?? []).flatMap(({ baseline, candidate, verdict, scores }) =>
    Object.entries(scores).map(([score, found]) => [
      ...["pair", group_id, candidate, baseline, null, null, score],
      ...[found.difference, found.ci95?.[0], found.ci95?.[1], found.scenarios, found.turns],
      ...[null, null, found.p, verdict, null, null],
    ])
  );
}

/** A row per model and score, then a row per pair and score; `kind` tells them apart. */
function writeComparisonTable(comparison: Comparison): string {
  return [COLUMNS, ...modelRows(comparison), ...pairRows(comparison)].map(writeRow).join("");
}
