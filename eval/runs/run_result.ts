import { gatherText } from "../../shared/http/json_stream.ts";
import type { AttemptResult } from "../../shared/schemas/evaluate.ts";
import type { RunReader, StoredRun } from "../store/store.ts";
import { createWholeReader, type TurnReader, whileKept } from "../store/whole_reader.ts";
import { createTotals, summariseRun } from "../summary.ts";
import { type ReadScenario, scenarioResults } from "./scenario_results.ts";

/**
 * The body of a completed run's answer (spec 2.4) as JSON text, in pieces. It is made from the
 * stored turns: the whole of it is never in memory. Throws `IncompleteRead` if one is missing.
 */
export function resultPieces(store: RunReader, run: StoredRun): AsyncGenerator<string> {
  const reader = createWholeReader(store, { ...run, status: "completed" });
  return whileKept(store, run.id, writeResult(reader, run));
}

/** The same text from any reader; `message` replaces the one that says that the run is complete. */
export async function* writeResult(
  reader: TurnReader,
  run: StoredRun,
  { message }: { message?: string } = {},
): AsyncGenerator<string> {
  const heading = summariseRun(run.request, { runId: run.id, ...await reader.tally(run.id) });
  if (message !== undefined) heading.message = message;
  yield `${JSON.stringify(heading).slice(0, -1)},"results":{"scenarios":[`;
  const totals = createTotals();
  let comma = "";
  for await (const scenario of scenarioResults(reader, run)) {
    totals.add(scenario.result);
    yield comma;
    for (const text of gatherText(scenarioPieces(scenario))) yield text;
    comma = ",";
  }
  yield `],${JSON.stringify(totals.close()).slice(1)}}`;
}

/** An attempt a piece: there may be a great many of them. */
function* scenarioPieces({ result, interactionsJson }: ReadScenario): Generator<string> {
  let text = "{";
  let comma = "";
  for (const [key, value] of Object.entries(result)) {
    if (value === undefined) continue;
    text += `${comma}${JSON.stringify(key)}:`;
    if (key !== "attempts") text += JSON.stringify(value);
    else {
      text += "[";
      for (const [index, attempt] of result.attempts.entries()) {
        yield text + (index === 0 ? "" : ",");
        text = attemptText(attempt, interactionsJson[index]!);
      }
      text += "]";
    }
    comma = ",";
  }
  yield `${text}}`;
}

/** The interactions stand in it as they were stored: most of an answer is not written again. */
function attemptText({ attempt_id, interactions: _, ...rest }: AttemptResult, json: string) {
  return `{"attempt_id":${attempt_id},"interactions":[${json}],${JSON.stringify(rest).slice(1)}`;
}
