import type { ExportSource } from "../../eval/report/format.ts";
import type { StoredRun } from "../../eval/store/run_record.ts";
import type { StoredTurn } from "../../eval/store/turn_record.ts";
import type { InteractionResult } from "../../eval/test/interaction_result.ts";
import { interaction, scenario } from "./eval_ports.ts";
import { toTurnText } from "./stored_runs.ts";

/** A scenario's id, and the fields of each result by attempt and turn. */
export type StoredScenario = [id: string, attempts: Partial<InteractionResult>[][]];

/** An answered turn that its judge did not grade. */
export const incompleteTurn: Partial<InteractionResult> = {
  scores: { token_f1: 0.5, judge: null, overall: null },
  missing_scores: { judge: "judge_unavailable", overall: "without judge" },
};

/** A finished run as the store gives it. */
export function storedRun(batch: StoredScenario[], fields: Partial<StoredRun> = {}): ExportSource {
  const turns = turnsOf(batch);
  const attempts = Math.max(...batch.map(([, attempts]) => attempts.length));
  const run: StoredRun = {
    id: "run-1",
    parentId: null,
    status: "completed",
    detail: null,
    testName: "a test",
    modelId: "acme/model",
    endpoint: "http://model.example/v1",
    attempts,
    totalTurns: turns.length,
    createdAt: Date.UTC(2026, 0, 2, 3, 4, 5),
    finishedAt: Date.UTC(2026, 0, 2, 3, 4, 6),
    tally: null,
    batchDigest: "",
    datasetName: null,
    gate: null,
    group: null,
    request: {
      test_batch: batch.map(([id, attempts]) =>
        scenario(
          id,
          attempts[0]!.map(({ id: own }, turn) =>
            interaction(own ?? `t${turn + 1}`, { user_message: `${id}: ${turn}` })
          ),
        )
      ),
      endpoint: "http://model.example/v1",
      model_id: "acme/model",
      attempts,
      test_name: "a test",
      parameters: {},
    },
    ...fields,
  };
  return {
    run,
    reader: {
      async *turns() {
        for (const turn of turns) yield await Promise.resolve(turn);
      },
      async *turnPages() {
        for (const turn of turns) yield await Promise.resolve([toTurnText(turn)]);
      },
      tally: () =>
        Promise.resolve({
          done: turns.length,
          failed: turns.filter(({ result }) => result.error).length,
          missing: turns.filter(({ result }) => result.missing_scores?.overall).length,
          scored: turns.length,
          mean: null,
          lastSeq: turns.length,
        }),
    },
    threshold: 0.7,
  };
}

function turnsOf(batch: StoredScenario[]): StoredTurn[] {
  return batch.flatMap(([, attempts], scenario) =>
    attempts.flatMap((turns, attempt) =>
      turns.map((fields, turn) => ({
        scenario,
        attempt,
        turn,
        tookMs: 150,
        result: turnResult(`t${turn + 1}`, fields),
      }))
    )
  );
}

/** An answered turn that passes, with the fields of the test. */
export function turnResult(id: string, fields: Partial<InteractionResult>): InteractionResult {
  return {
    ...interaction(id),
    reference_reply: "expected",
    agent_reply: "answered",
    scores: { overall: 0.9 },
    latency_ms: 120,
    usage: { input_tokens: 3, output_tokens: 5, total_tokens: 8 },
    ...fields,
  };
}

/** A turn whose call failed. */
export const failedTurn: Partial<InteractionResult> = {
  agent_reply: "Request failed",
  scores: { overall: 0 },
  usage: null,
  error: { code: "provider_timeout", status: null, detail: "no answer within 120 s" },
};

/** What a format writes, whole. */
export async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  return (await Array.fromAsync(pieces)).join("");
}
