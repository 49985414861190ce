import type { AttemptResult, ScenarioResult } from "../../shared/schemas/evaluate.ts";
import type { StoredRun, TurnText } from "../store/store.ts";
import type { TurnReader } from "../store/whole_reader.ts";
import { summariseAttempt, summariseScenario } from "../summary.ts";

export interface ReadScenario {
  /** Its place in the batch. */
  index: number;
  result: ScenarioResult;
  /** By attempt: its interactions as JSON, separated by commas, the way they were stored. */
  interactionsJson: string[];
}

/** The scenarios that have any turn, one after another. */
export async function* scenarioResults(
  store: TurnReader,
  run: StoredRun,
): AsyncGenerator<ReadScenario> {
  const { test_batch, pass_threshold } = run.request;
  for await (const turns of byScenario(store.turnPages(run.id))) {
    const index = turns[0]!.scenario;
    const { attempts, interactionsJson } = readAttempts(turns);
    const result = summariseScenario(test_batch[index]!, attempts, pass_threshold);
    yield { index, result, interactionsJson };
  }
}

function readAttempts(turns: TurnText[]) {
  const attempts: AttemptResult[] = [];
  const interactionsJson: string[] = [];
  for (const [attempt, texts] of Map.groupBy(turns, ({ attempt }) => attempt)) {
    const parsed = texts.map(({ tookMs, resultJson }) => ({
      tookMs,
      result: JSON.parse(resultJson),
    }));
    attempts.push(summariseAttempt(attempt, parsed));
    interactionsJson.push(texts.map(({ resultJson }) => resultJson).join(","));
  }
  return { attempts, interactionsJson };
}

async function* byScenario(pages: AsyncIterable<TurnText[]>): AsyncGenerator<TurnText[]> {
  let group: TurnText[] = [];
  for await (const page of pages) {
    for (const turn of page) {
      if (group.length > 0 && group[0]!.scenario !== turn.scenario) {
        yield group;
        group = [];
      }
      group.push(turn);
    }
  }
  if (group.length > 0) yield group;
}
