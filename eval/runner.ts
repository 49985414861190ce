import { isAbort } from "../shared/errors.ts";
import type {
  AttemptResult,
  Interaction,
  InteractionError,
  InteractionResult,
  InteractionUsage,
  Metadata,
  Scenario,
  Scores,
} from "../shared/schemas/evaluate.ts";
import { ProviderError } from "../shared/providers/provider.ts";
import { createPacer } from "./pacer.ts";
import { aggregateScores, toScoredTurn } from "./statistics.ts";

/** What stands in place of a reply that could not be had (spec 7.1). */
export const REQUEST_FAILED = "Request failed";

/** One line of the conversation so far. */
export interface Turn {
  role: "user" | "assistant";
  content: string;
}

export interface TargetReply {
  content: string;
  usage: InteractionUsage | null;
}

/** The model under test. Throws `ProviderError` when it cannot answer, after its own retries. */
export interface Target {
  ask(conversation: Turn[], signal: AbortSignal): Promise<TargetReply>;
}

export interface Assessment
  extends Pick<InteractionResult, "scores" | "score_methods" | "annotation" | "judge"> {
  generatedMetadata: Metadata;
}

/** Compares a reply with its reference. `failed` is what a turn without a reply counts. */
export interface Assessor {
  assess(interaction: Interaction, reply: string): Promise<Assessment>;
  failed(interaction: Interaction): Scores;
}

/** Where a turn belongs: positions in the batch, counted from 0. */
export interface TurnPosition {
  scenario: number;
  attempt: number;
  turn: number;
}

/** Told of every finished turn, before the run goes on from it. */
export interface Recorder {
  record(position: TurnPosition, result: InteractionResult): void | Promise<void>;
}

export interface RunPorts {
  target: Target;
  assessor: Assessor;
  recorder?: Recorder;
  /** Waits for one of the process's places for conversations, and gives it back afterwards. */
  slot: <T>(work: () => Promise<T>) => Promise<T>;
  /** How many conversations of this run may wait for a place at once. */
  concurrency: number;
  signal: AbortSignal;
}

/**
 * Has every scenario's conversation `attempts` times. Conversations run side by side, the turns of
 * one in order. Results stand by scenario and attempt, whatever finished first. Rejects only when
 * the signal is aborted; a turn that fails is a result.
 */
export async function runScenarios(
  { scenarios, attempts }: { scenarios: Scenario[]; attempts: number },
  ports: RunPorts,
): Promise<AttemptResult[][]> {
  const results: AttemptResult[][] = scenarios.map(() => new Array(attempts));
  const queue = conversations(scenarios, attempts);
  const pace = createPacer();
  const failure = new AbortController(); // a fault in one conversation ends the others
  const signal = AbortSignal.any([ports.signal, failure.signal]);

  // A worker takes the next conversation only when it has a place: a large run never stands in
  // front of a small one with all its conversations at once. It has the next one while the last
  // reply of the one before is assessed, and is never further ahead than that.
  async function work(): Promise<void> {
    let before = Promise.resolve();
    for (const { scenario, position } of queue) {
      signal.throwIfAborted();
      const { assessed } = await ports.slot(() =>
        converse(scenario, position, { ...ports, signal })
      );
      await before;
      before = assessed.then((result) => {
        results[position.scenario]![position.attempt] = result;
      });
      before.catch(() => {}); // seen when it is awaited
      await pace();
    }
    await before;
  }

  const workers = Math.min(ports.concurrency, scenarios.length * attempts);
  try {
    await Promise.all(Array.from({ length: workers }, work));
  } catch (error) {
    failure.abort(error);
    throw error;
  }
  return results;
}

function* conversations(scenarios: Scenario[], attempts: number) {
  for (const [index, scenario] of scenarios.entries()) {
    for (let attempt = 0; attempt < attempts; attempt++) {
      yield { scenario, position: { scenario: index, attempt } };
    }
  }
}

/** Has one conversation. The place is free once the last reply is there; `assessed` comes later. */
async function converse(
  scenario: Scenario,
  position: Omit<TurnPosition, "turn">,
  ports: RunPorts,
): Promise<{ assessed: Promise<AttemptResult> }> {
  const started = performance.now();
  const history: Turn[] = [];
  const interactions: Promise<InteractionResult>[] = [];
  for (const [turn, interaction] of scenario.interactions.entries()) {
    await interactions.at(-1); // a turn is recorded before the next is asked
    const taken = await takeTurn(interaction, history, ports);
    const result = finishTurn(taken, { ...position, turn }, ports);
    result.catch(() => {}); // seen when it is awaited
    interactions.push(result);
    if (!("reply" in taken)) continue; // a failed turn was never said
    history.push(
      { role: "user", content: interaction.user_message },
      { role: "assistant", content: taken.reply.content },
    );
  }
  return {
    assessed: Promise.all(interactions).then((results) => ({
      attempt_id: position.attempt + 1,
      interactions: results,
      ...aggregateScores(results.map((result, turn) => toScoredTurn(result, turn))),
      execution_time_ms: Math.round(performance.now() - started),
    })),
  };
}

/** A turn whose answer is there, or is not coming. */
type TakenTurn =
  & { interaction: Interaction; latency_ms: number }
  & (
    | { reply: TargetReply }
    | { error: InteractionError }
  );

async function takeTurn(
  interaction: Interaction,
  history: Turn[],
  { target, signal }: RunPorts,
): Promise<TakenTurn> {
  signal.throwIfAborted();
  const started = performance.now();
  const elapsed = () => Math.round(performance.now() - started);
  const conversation: Turn[] = [...history, { role: "user", content: interaction.user_message }];
  try {
    const reply = await target.ask(conversation, signal);
    return { interaction, reply, latency_ms: elapsed() };
  } catch (error) {
    if (isAbort(error)) throw error;
    return { interaction, error: describe(error), latency_ms: elapsed() };
  }
}

async function finishTurn(
  taken: TakenTurn,
  position: TurnPosition,
  ports: RunPorts,
): Promise<InteractionResult> {
  const result = await assessTurn(taken, ports.assessor);
  await ports.recorder?.record(position, result);
  return result;
}

async function assessTurn(taken: TakenTurn, assessor: Assessor): Promise<InteractionResult> {
  const { interaction, latency_ms } = taken;
  const reference_reply = interaction.reference_reply ?? "";
  if ("error" in taken) {
    return {
      ...interaction,
      reference_reply,
      agent_reply: REQUEST_FAILED,
      generated_metadata: {},
      scores: assessor.failed(interaction),
      latency_ms,
      usage: null,
      error: taken.error,
    };
  }
  const { content, usage } = taken.reply;
  const { generatedMetadata, ...assessed } = await assessor.assess(interaction, content);
  return {
    ...interaction,
    reference_reply,
    agent_reply: content,
    generated_metadata: generatedMetadata,
    ...assessed,
    latency_ms,
    usage,
  };
}

function describe(error: unknown): InteractionError {
  if (!(error instanceof ProviderError)) throw error; // ours, not the endpoint's
  const { failure } = error;
  return {
    code: error.code,
    status: failure.kind === "status" ? failure.status : null,
    detail: error.message,
  };
}
