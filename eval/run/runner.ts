import { isAbort } from "../../shared/errors.ts";
import type {
  Interaction,
  InteractionError,
  InteractionResult,
  Scenario,
} from "../../shared/schemas/evaluate.ts";
import { ProviderError } from "../../shared/providers/provider.ts";
import type { Assessment, Assessor } from "../assess/assessment.ts";
import type { ConversationMessage, Target, TargetReply } from "../endpoint/target.ts";
import type { AttemptPosition, TurnPosition } from "../store/store.ts";
import type { Slot } from "./fair_slots.ts";
import { createLane, type Lane } from "./lanes.ts";
import { createPacer } from "../../shared/pacer.ts";

/** What stands in place of a reply that could not be had (spec 7.1). */
export const REQUEST_FAILED = "Request failed";

/** Told of every reply and of every finished turn, those of a conversation in order. */
export interface Recorder {
  /** What it cost is not to be lost. The reply is assessed once this resolves. */
  receive?(position: TurnPosition, received: TimedReply): Promise<void>;
  record(
    position: TurnPosition,
    result: InteractionResult,
    /** From the question to the scores. */
    timing: { tookMs: number },
  ): void | Promise<void>;
}

/** A reply and how long it took. */
export interface TimedReply {
  reply: TargetReply;
  latencyMs: number;
}

/** A reply that an earlier process received but did not finish assessing. */
export interface EarlierReply extends TimedReply {
  /** Assesses it; `undefined` if that was begun too often already, without a result. */
  attempt<T>(work: () => Promise<T>): Promise<T> | undefined;
}

/** What an earlier process, or the run that this one retries, has finished already. */
export interface Finished {
  /** Whether nothing of the attempt is left to ask. */
  isWhole(position: AttemptPosition): boolean;
  /** The finished turns of an attempt, by turn. */
  turns(position: AttemptPosition): Promise<ReadonlyMap<number, InteractionResult>>;
  /** The replies of an attempt that need not be asked for again, by turn. */
  replies(position: AttemptPosition): Promise<ReadonlyMap<number, EarlierReply>>;
}

export interface RunPorts {
  target: Target;
  assessor: Assessor;
  recorder: Recorder;
  finished?: Finished;
  /** Waits for one of the process's places for conversations, and gives it back afterwards. */
  slot: Slot;
  /** How many conversations of this run may wait for a place at once. */
  concurrency: number;
  /** Ends the run at once; calls under way are aborted. */
  signal: AbortSignal;
  /** Once it is true no turn begins any more, and those under way are finished. */
  isPaused?: () => boolean;
  /** Told why a reply could not be assessed; its turn is recorded without scores. */
  onUnscored?: (position: TurnPosition, error: unknown) => void;
}

/**
 * Has every scenario's conversation `attempts` times. Conversations run side by side, the turns of
 * one in order, and the recorder is told of each. In each place one reply is assessed and recorded
 * while the next is asked for, so that neither a judge nor the disk slows the asking. Rejects when
 * the signal is aborted or the service itself is at fault, after the last call under way has ended;
 * a turn that fails is a result.
 */
export async function runScenarios(
  { scenarios, attempts }: { scenarios: Scenario[]; attempts: number },
  ports: RunPorts,
): Promise<"finished" | "paused"> {
  const queue = conversations(scenarios, attempts);
  const pace = createPacer();
  const failure = new AbortController(); // a fault in one conversation ends the others
  const signal = AbortSignal.any([ports.signal, failure.signal]);
  const { finished, isPaused = () => false } = ports;

  // A worker takes the next conversation only when it has a place: a large run never stands in
  // front of a small one with all its conversations at once.
  async function work(): Promise<void> {
    const lane = createLane();
    try {
      for (const { scenario, position } of queue) {
        signal.throwIfAborted();
        if (isPaused()) return;
        if (!finished?.isWhole(position)) {
          const talk = () => converse(scenario, position, { ...ports, signal, lane });
          await ports.slot(talk, signal);
        }
        await pace();
      }
    } finally {
      await lane.end();
    }
  }

  const workers = Math.min(ports.concurrency, scenarios.length * attempts);
  const all = Array.from({ length: workers }, work);
  try {
    await Promise.all(all);
  } catch (error) {
    failure.abort(error);
    await Promise.allSettled(all); // nobody is told of a turn after the run has ended
    throw error;
  }
  return isPaused() ? "paused" : "finished";
}

function* conversations(scenarios: Scenario[], attempts: number) {
  for (const [index, scenario] of scenarios.entries()) {
    for (let attempt = 0; attempt < attempts; attempt++) {
      yield { scenario, position: { scenario: index, attempt } };
    }
  }
}

async function converse(
  scenario: Scenario,
  position: AttemptPosition,
  ports: RunPorts & { lane: Lane },
): Promise<void> {
  const { recorder, finished, isPaused, lane } = ports;
  const history: ConversationMessage[] = [];
  const known = await finished?.turns(position);
  const replies = await finished?.replies(position);
  let isAskedAnew = false;
  for (const [turn, interaction] of scenario.interactions.entries()) {
    if (isPaused?.()) return;
    const stored = known?.get(turn);
    // A reply that was given before a turn that is asked anew belongs to another conversation.
    const earlier: EarlierReply | undefined = isAskedAnew ? undefined : replies?.get(turn);
    isAskedAnew ||= !stored && !earlier;
    const answer: Answer = stored
      ? toAnswer(stored)
      : earlier ?? await ask(interaction, history, ports);
    if (!stored) {
      const place = { ...position, turn };
      // At once, not when its turn in the lane comes: a slow judge may be at the reply before it.
      const received = answer.reply && !earlier ? recorder.receive?.(place, answer) : undefined;
      received?.catch(() => {}); // told in the lane
      await lane.begin(async () => {
        await received;
        const started = performance.now();
        const result = await toResult(interaction, answer, { ...ports, place });
        const tookMs = Math.round(answer.latencyMs + performance.now() - started);
        await recorder.record(place, result, { tookMs });
      });
    }
    if (!answer.reply) continue; // a failed turn was never said
    history.push(
      { role: "user", content: interaction.user_message },
      { role: "assistant", content: answer.reply.content },
    );
  }
}

/** What came back when a turn was asked: a reply, or why there is none. */
type Answer =
  | (TimedReply & Partial<Pick<EarlierReply, "attempt">>)
  | { latencyMs: number; reply?: never; error: InteractionError };

async function ask(
  { user_message }: Interaction,
  history: ConversationMessage[],
  { target, signal }: RunPorts,
): Promise<Answer> {
  signal.throwIfAborted();
  const started = performance.now();
  const latencyMs = () => Math.round(performance.now() - started);
  try {
    const reply = await target.ask([...history, { role: "user", content: user_message }], signal);
    return { reply, latencyMs: latencyMs() };
  } catch (error) {
    if (isAbort(error)) throw error;
    return { error: describe(error), latencyMs: latencyMs() };
  }
}

function toAnswer(result: InteractionResult): Answer {
  const { agent_reply: content, usage, latency_ms: latencyMs, error, reply_encoding } = result;
  if (error) return { error, latencyMs };
  const reply = { content, usage, ...(reply_encoding && { encoding: reply_encoding }) };
  return { reply, latencyMs };
}

async function toResult(
  interaction: Interaction,
  answer: Answer,
  ports: RunPorts & { place: TurnPosition },
): Promise<InteractionResult> {
  const { assessor } = ports;
  const { reply, latencyMs: latency_ms } = answer;
  // A result that is sent in again brings its outcome along; that is not this turn's.
  const {
    error: _,
    judge: __,
    annotation: ___,
    score_methods: ____,
    missing_scores: _____,
    overall_bounds: ______,
    reply_encoding: _______,
    differs_in: ________,
    ...own
  } = interaction;
  const reference_reply = interaction.reference_reply ?? "";
  if (!reply) {
    return {
      ...own,
      reference_reply,
      agent_reply: REQUEST_FAILED,
      generated_metadata: {},
      scores: await assessor.failed(interaction),
      latency_ms,
      usage: null,
      error: answer.error,
    };
  }
  const { generatedMetadata, ...assessed } = await assess(interaction, answer, ports);
  return {
    ...own,
    reference_reply,
    agent_reply: reply.content,
    generated_metadata: generatedMetadata,
    ...assessed,
    latency_ms,
    usage: reply.usage,
    ...(reply.encoding && { reply_encoding: reply.encoding }),
  };
}

/** What stands in `missing_scores` if assessing a reply threw, or ended the process. */
const UNSCORED = "scoring failed; see the service's log";
const GIVEN_UP = "given up: each time this reply was scored, the service ended";

/** A fault of the scoring belongs to its turn: the run goes on without these scores. */
async function assess(
  interaction: Interaction,
  { reply, attempt = (work) => work() }: TimedReply & Partial<Pick<EarlierReply, "attempt">>,
  { assessor, signal, onUnscored, place }: RunPorts & { place: TurnPosition },
): Promise<Assessment> {
  const without = (error: unknown, reason: string) => {
    onUnscored?.(place, error);
    return { generatedMetadata: {}, ...assessor.unscored(interaction, reason) };
  };
  const scoring = attempt(async () => {
    try {
      return await assessor.assess(interaction, reply.content);
    } catch (error) {
      if (signal.aborted) throw error;
      return without(error, UNSCORED);
    }
  });
  return await scoring ?? without(new Error(GIVEN_UP), GIVEN_UP);
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
