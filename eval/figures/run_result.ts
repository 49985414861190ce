import { type EvaluateResponse, ScenarioResult } from "../test/evaluate_response.ts";
import { type Detail, inDetail } from "./detail.ts";
import type { Statistic } from "../test/statistics.ts";
import type { StoredRun } from "../store/run_record.ts";
import type { RunReader } from "../store/store.ts";
import { createWholeReader, type TurnReader } from "../store/whole_reader.ts";
import { createTotals, ownFields, summariseRun } from "./summary/summary.ts";
import { type ResultPart, resultParts } from "./scenario_results.ts";

/**
 * The body of a completed run's answer as JSON text, in pieces. It is written from the stored
 * turns, and never in memory as a whole. Throws `IncompleteRead` if a turn is missing.
 */
export function resultPieces(
  store: RunReader,
  run: StoredRun,
  { detail }: { detail?: Detail } = {},
): AsyncGenerator<string> {
  return writeResult(createWholeReader(store, { ...run, status: "completed" }), run, { detail });
}

/**
 * The same text from any reader. `message` replaces the message about completion;
 * `agreement` and `leaks` are added to the results.
 */
export async function* writeResult(
  reader: TurnReader,
  run: StoredRun,
  { message, detail, ...more }:
    & { message?: string; detail?: Detail }
    & Pick<EvaluateResponse["results"], "agreement" | "leaks"> = {},
): AsyncGenerator<string> {
  const { id: runId, testName } = run;
  const heading = summariseRun(run.request, { runId, testName, ...await reader.tally(runId) });
  if (message !== undefined) heading.message = message;
  yield `${JSON.stringify(heading).slice(0, -1)},"results":{"scenarios":[`;
  const totals = createTotals();
  const writer = createPartWriter(run, detail);
  for await (const parts of resultParts(reader, run)) {
    for (const part of parts) {
      yield writer(part);
      if (part.kind === "turn") totals.addTurn(part.result);
      else if (part.kind === "scenario end") totals.add(part);
    }
  }
  const rest = await totals.close();
  const statistics = inDetail(rest.statistics, detail);
  yield `],${JSON.stringify({ ...rest, statistics, ...more }).slice(1)}}`;
}

const AS_SENT = new Set(["description", "checks", "conversation_checks"]);
/** Our fields of a scenario's answer. The caller's own fields cannot replace them. */
const OURS = new Set(Object.keys(ScenarioResult.shape).filter((name) => !AS_SENT.has(name)));

/** Copies turns into the text as they were stored, because they are most of an answer. */
function createPartWriter(
  { request: { test_batch } }: StoredRun,
  detail: Detail,
): (part: ResultPart) => string {
  const write = <T extends { statistics: Record<string, Statistic> }>(summary: T) =>
    JSON.stringify({ ...summary, statistics: inDetail(summary.statistics, detail) });
  const commas = { scenario: "", attempt: "", turn: "" };
  const comma = (level: keyof typeof commas) => {
    const text = commas[level];
    commas[level] = ",";
    return text;
  };
  return (part) => {
    switch (part.kind) {
      case "scenario": {
        const scenario = test_batch[part.index]!;
        commas.attempt = "";
        const own = Object.entries(ownFields(scenario)).filter(([name, value]) =>
          !OURS.has(name) && value !== undefined
        ).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`).join("");
        const id = JSON.stringify(scenario.id);
        return `${comma("scenario")}{${own}"scenario_id":${id},"attempts":[`;
      }
      case "attempt":
        commas.turn = "";
        return `${comma("attempt")}{"attempt_id":${part.attempt + 1},"interactions":[`;
      case "turn":
        return comma("turn") + part.resultJson;
      case "attempt end": {
        const { attempt_id: _, ...rest } = part.summary;
        return `],${write(rest).slice(1)}`;
      }
      case "scenario end":
        return `],${write(part.summary).slice(1)}`;
    }
  };
}
