import type { GroupReport } from "../groups/group_report.ts";
import { BYTE_ORDER_MARK, type Cell, writeRow } from "./csv_text.ts";
import { describeGroup } from "./group_text.ts";
import { markdownForm } from "./markdown.ts";

/** One way to write a group down. */
export interface GroupFormat {
  readonly name: string;
  /** Of a file in this format, without the dot. */
  readonly extension: string;
  readonly contentType: string;
  write(report: GroupReport, options: { hasBom: boolean }): string;
}

const json: GroupFormat = {
  name: "json",
  extension: "json",
  contentType: "application/json",
  write: (report) => `${JSON.stringify(report, null, 2)}\n`,
};

const markdown: GroupFormat = {
  name: "markdown",
  extension: "md",
  contentType: "text/markdown; charset=utf-8",
  write: (report) => describeGroup(report, markdownForm),
};

/** A row per model and score, then a row per pair and score; `kind` tells them apart. */
const csv: GroupFormat = {
  name: "csv",
  extension: "csv",
  contentType: "text/csv; charset=utf-8; header=present",
  write(report, { hasBom }) {
    const rows = [COLUMNS, ...modelRows(report), ...pairRows(report)];
    return (hasBom ? BYTE_ORDER_MARK : "") + rows.map(writeRow).join("");
  },
};

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
  "p_adjusted",
  "verdict",
  "cost",
  "cost_currency",
];

function modelRows({ group_id, models }: GroupReport): Cell[][] {
  return models.flatMap(({ name, run_id, status, scores, cost }) =>
    Object.entries(scores ?? {}).map(([score, { mean, ci95, n, turns, failed, missing }]) => [
      ...["model", group_id, name, null, run_id, status, score],
      ...[mean, ci95?.[0], ci95?.[1], n, turns, failed, missing],
      ...[null, null, null, cost?.amount, cost?.currency],
    ])
  );
}

/** `value` is the difference: the model − the one against it. */
function pairRows({ group_id, pairs }: GroupReport): Cell[][] {
  return (pairs ?? []).flatMap(({ baseline, candidate, scores }) =>
    Object.entries(scores).map(([score, found]) => [
      ...["pair", group_id, candidate, baseline, null, null, score],
      ...[found.difference, found.ci95?.[0], found.ci95?.[1], found.scenarios, found.turns],
      ...[null, null, found.p, found.p_adjusted, found.verdict, null, null],
    ])
  );
}

/** Every format that a group can be exported in. */
export const groupFormats: readonly GroupFormat[] = [json, csv, markdown];
