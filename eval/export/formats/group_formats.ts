import { groupInDetail } from "../../groups/groups.ts";
import type { GroupReport } from "../../groups/group_report.ts";
import { BYTE_ORDER_MARK, type CsvCell, writeRow } from "./csv_text.ts";
import type { GroupFormat } from "../group_format.ts";
import { describeGroup } from "../text/group_text.ts";
import { groupHtml } from "./html.ts";
import { jsonl } from "./jsonl.ts";
import { junit, writeReport } from "./junit.ts";
import { markdownForm } from "./markdown.ts";

const json: GroupFormat = {
  name: "json",
  extension: "json",
  contentType: "application/json",
  async *write({ report, detail }) {
    yield `${JSON.stringify(groupInDetail(report, detail), null, 2)}\n`;
  },
};

const markdown: GroupFormat = {
  name: "markdown",
  extension: "md",
  contentType: "text/markdown; charset=utf-8",
  async *write({ report }) {
    yield describeGroup(report, markdownForm);
  },
};

/** A row per model and score, then a row per pair and score; `kind` tells them apart. */
const csv: GroupFormat = {
  name: "csv",
  extension: "csv",
  contentType: "text/csv; charset=utf-8; header=present",
  async *write({ report, hasBom = true }) {
    if (hasBom) yield BYTE_ORDER_MARK;
    yield [COLUMNS, ...modelRows(report), ...pairRows(report)].map(writeRow).join("");
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
  "bounds_low",
  "bounds_high",
  "p",
  "verdict",
  "cost",
  "cost_currency",
];

function modelRows({ group_id, models }: GroupReport): CsvCell[][] {
  return models.flatMap(({ name, run_id, status, scores, cost }) =>
    Object.entries(scores ?? {}).map(([score, found]) => [
      ...["model", group_id, name, null, run_id, status, score],
      ...[found.mean, found.ci95?.[0], found.ci95?.[1], found.n],
      ...[found.turns, found.failed, found.missing],
      ...[found.bounds?.[0], found.bounds?.[1], null, null, cost?.amount, cost?.currency],
    ])
  );
}

/** `value` is the difference: the model − the one against it. */
function pairRows({ group_id, pairs }: GroupReport): CsvCell[][] {
  return (pairs ?? []).flatMap(({ baseline, candidate, verdict, scores }) =>
    Object.entries(scores).map(([score, found]) => [
      ...["pair", group_id, candidate, baseline, null, null, score],
      ...[found.difference, found.ci95?.[0], found.ci95?.[1], found.scenarios, found.turns],
      ...[null, null, found.bounds?.difference[0], found.bounds?.difference[1]],
      ...[found.p, verdict, null, null],
    ])
  );
}

/** The turns of all runs, one after another. */
const groupJsonl: GroupFormat = {
  ...jsonl,
  async *write({ runs }) {
    for (const source of await runs()) yield* jsonl.write(source);
  },
};

/** The suites of all runs; their names begin with that of the model. */
const groupJunit: GroupFormat = {
  ...junit,
  async *write({ runs }) {
    yield* writeReport(await runs());
  },
};

/** Every format that a group can be exported in. */
export const groupFormats: readonly GroupFormat[] = [
  json,
  groupJsonl,
  csv,
  groupJunit,
  markdown,
  groupHtml,
];
