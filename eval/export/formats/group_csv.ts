import type { GroupReport } from "../../groups/group_report.ts";
import { type CsvCell, writeRow } from "./csv_text.ts";

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

/** A row per model and score, then a row per pair and score; `kind` tells them apart. */
export function writeGroupTable(report: GroupReport): string {
  return [COLUMNS, ...modelRows(report), ...pairRows(report)].map(writeRow).join("");
}
