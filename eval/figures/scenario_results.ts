import { isBarring } from "../test/barred.ts";
import type { InteractionResult } from "../test/interaction_result.ts";
import { createYielder } from "../../shared/service/waiting.ts";
import { questionOf } from "./summary/notes.ts";
import { HEADLINE } from "./passing.ts";
import type { StoredRun } from "../store/run_record.ts";
import type { TurnText } from "../store/turn_record.ts";
import type { TurnReader } from "../store/whole_reader.ts";
import {
  type AttemptSummary,
  type CountedAttempt,
  type CountedTurn,
  type EndedScenario,
  summariseAttempt,
  summariseScenario,
} from "./summary/summary.ts";

/** The parts of a run's answer, in its order. */
export type ResultPart =
  | { kind: "scenario"; index: number }
  | { kind: "attempt"; attempt: number }
  | {
    kind: "turn";
    turn: number;
    result: InteractionResult;
    resultJson: string;
  }
  | { kind: "attempt end"; summary: AttemptSummary }
  | { kind: "scenario end" } & EndedScenario;

/** The scores of an attempt that decide whether it passes. A scenario needs no others. */
export const PASSING: readonly string[] = [HEADLINE];

/** The attempt that is being read. */
interface OpenAttempt {
  scenario: number;
  attempt: number;
  interactions: CountedTurn[];
  tookMs: number;
}

/**
 * Reads a run once, turn by turn. Parts are yielded in groups, because an asynchronous step is
 * slower than most parts. Only the data for averages is kept until the end of a scenario; the
 * texts, which are most of the data, are not. `attemptScores` are the scores in the summaries of
 * attempts, all if it is unset; a caller that does not use these summaries passes `PASSING`.
 */
export async function* resultParts(
  reader: Pick<TurnReader, "turnPages">,
  run: StoredRun,
  { attemptScores }: { attemptScores?: readonly string[] } = {},
): AsyncGenerator<ResultPart[]> {
  const yieldIfDue = createYielder();
  const { pass_threshold } = run.request;
  let attempts: CountedAttempt[] = [];
  let open: OpenAttempt | undefined;

  function endAttempt(parts: ResultPart[]): void {
    if (!open) return;
    const summary = summariseAttempt(open.attempt, open, attemptScores);
    attempts.push({ statistics: summary.statistics, interactions: open.interactions });
    parts.push({ kind: "attempt end", summary });
  }

  async function endScenario(parts: ResultPart[]): Promise<void> {
    if (!open) return;
    const ended = await summariseScenario(attempts, {
      passThreshold: pass_threshold,
      pause: yieldIfDue,
    });
    const question = questionOf(run.request.test_batch[open.scenario]!);
    parts.push({ kind: "scenario end", ...ended, attempts, question });
    attempts = [];
  }

  for await (const page of reader.turnPages(run.id)) {
    const parts: ResultPart[] = [];
    for (const turn of page) {
      const { scenario, attempt } = turn;
      const isNewScenario = open?.scenario !== scenario;
      if (isNewScenario || open?.attempt !== attempt) {
        endAttempt(parts);
        if (isNewScenario) {
          await endScenario(parts);
          parts.push({ kind: "scenario", index: scenario });
        }
        open = { scenario, attempt, interactions: [], tookMs: 0 };
        parts.push({ kind: "attempt", attempt });
      }
      parts.push(readTurn(turn, open!));
      if (yieldIfDue.isDue()) await yieldIfDue(); // turns may be large
    }
    yield parts;
    await yieldIfDue();
  }
  const parts: ResultPart[] = [];
  endAttempt(parts);
  await endScenario(parts);
  yield parts;

  function readTurn({ resultJson, tookMs, turn }: TurnText, open: OpenAttempt): ResultPart {
    const result: InteractionResult = JSON.parse(resultJson);
    open.interactions.push(countedPart(result, attempts.length === 0));
    open.tookMs += tookMs;
    return { kind: "turn", turn, result, resultJson };
  }
}

/**
 * The fields of a turn for averages. Annotations are kept of the first attempt only, because their
 * keys are the same in all attempts.
 */
function countedPart(result: InteractionResult, isFirstAttempt: boolean): CountedTurn {
  const { scores, error, missing_scores, annotation } = result;
  const { reference_metadata, generated_metadata, agreement, wrong_values } = result;
  const barring = result.check_results?.find(isBarring);
  return {
    scores,
    reference_metadata,
    generated_metadata,
    ...(error && { error }),
    ...(missing_scores && { missing_scores }),
    ...(annotation && isFirstAttempt && { annotation }),
    ...(barring && { check_results: [barring] }),
    ...(agreement && { agreement }),
    ...(wrong_values && { wrong_values }),
  };
}
