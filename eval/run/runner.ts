import { setImmediate } from "node:timers";
import { isAbort } from "../../shared/errors.ts";
import {
  Interaction,
  type InteractionError,
  InteractionResult,
  type Scenario,
} from "../../shared/schemas/evaluate.ts";
import { ProviderError } from "../../shared/providers/provider.ts";
import { Cost } from "../../shared/schemas/cost.ts";
import type { Assessment, Assessor, ReplyCircumstances, Spent } from "../assess/assessment.ts";
import { isTruncated, type TargetReply } from "../endpoint/reply.ts";
import type { ConversationMessage, Target } from "../endpoint/target.ts";
import type { AttemptPosition, TurnPosition } from "../store/store.ts";
import type { Limiter } from "./fair_limiter.ts";
import { createYielder } from "../../shared/yielder.ts";
import {
  firstTurnOf,
  hasReferenceHistory,
  listConversations,
  type RunPlan,
} from "../../shared/schemas/conversations.ts";
import { createLocalWork, type RunWork, type TakenConversation } from "./work.ts";

/** The `agent_reply` of a turn whose call failed. */
export const REQUEST_FAILED = "Request failed";

/**
 * Thrown by `Recorder.record` if the turn is already stored: another process has this conversation.
 * Only the conversation ends, not the run.
 */
export class ConversationTaken extends Error {
  override readonly name = "ConversationTaken";
}

/** Called for every reply and every finished turn; the turns of one conversation come in order. */
export interface Recorder {
  /** Called before the reply is assessed, because the reply is paid for. Assessing waits for it. */
  receive?(position: TurnPosition, received: TimedReply): Promise<void>;
  record(
    position: TurnPosition,
    result: InteractionResult,
    /** The time from the question to the scores. */
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
  /** Assesses it; `undefined` if earlier tries never finished and there were too many of them. */
  attempt<T>(work: () => Promise<T>): Promise<T> | undefined;
}

/** What an earlier process, or the run that this one retries, has already finished. */
export interface Finished {
  /** True if every turn of the attempt is finished. */
  isWhole(position: AttemptPosition): boolean;
  /** The finished turns of an attempt, by turn. */
  turns(position: AttemptPosition): Promise<ReadonlyMap<number, InteractionResult>>;
  /** The replies of an attempt that were received but not assessed, by turn. */
  replies(position: AttemptPosition): Promise<ReadonlyMap<number, EarlierReply>>;
}

export interface RunPorts {
  target: Target;
  assessor: Assessor;
  recorder: Recorder;
  finished?: Finished;
  /** Hands out the conversations; if unset, this process has all of them. */
  work?: RunWork;
  /** Limits the conversations of the whole process. */
  limiter: Limiter;
  /** How many conversations of this run may be running or waiting for the limiter at once. */
  concurrency: number;
  /** Ends the run at once and aborts its calls. */
  signal: AbortSignal;
  /** Once it is true, no further turn starts; those that have started are finished. */
  isPaused?: () => boolean;
  /** Called if a reply could not be assessed; its turn is recorded without scores. */
  onUnscored?: (position: TurnPosition, error: unknown) => void;
}

/**
 * Runs the conversation of every scenario `attempts` times. Conversations run concurrently, the
 * turns of one conversation in order. One reply per worker is assessed and recorded while the next
 * one is being asked for, so that neither a judge nor the disk slows the endpoint's calls down.
 * Rejects if the signal is aborted or the service itself fails, after the last running call has
 * ended. A turn whose call fails does not reject: it has a result with an `error`.
 */
export async function runScenarios(
  plan: RunPlan & { scenarios: Scenario[] },
  ports: RunPorts,
): Promise<"finished" | "paused"> {
  const { scenarios } = plan;
  const { work = createLocalWork(plan, ports.finished) } = ports;
  const yieldIfDue = createYielder();
  const failure = new AbortController(); // a fault in one conversation ends the others
  const signal = AbortSignal.any([ports.signal, failure.signal]);
  const { isPaused = () => false } = ports;

  /** False if there is no conversation to be had at this moment. */
  async function converseNext(background: BackgroundWork): Promise<boolean> {
    const taken = await work.take();
    if (!taken) return false;
    const { position: { scenario: index, attempt } } = taken;
    const way: ConversationWay = {
      scenario: scenarios[index]!,
      firstTurn: firstTurnOf(plan, attempt),
      afterReferences: hasReferenceHistory(plan, attempt),
    };
    const own = taken.signal ? AbortSignal.any([signal, taken.signal]) : signal;
    try {
      const { isWhole } = await converse(way, taken, { ...ports, signal: own, background });
      isWhole.then((whole) => whole ? taken.finish() : taken.giveBack(), taken.giveBack);
    } catch (error) {
      taken.giveBack();
      if (signal.aborted || !taken.signal?.aborted) throw error;
    }
    return true;
  }

  // A worker waits for one conversation at a time: a large run never puts all of its conversations in
  // front of a small run.
  async function begin(): Promise<void> {
    const background = createBackgroundWork();
    try {
      while (!isPaused()) {
        signal.throwIfAborted();
        const hadOne = await ports.limiter(() => converseNext(background), signal);
        if (!hadOne && await work.wait(signal) === "over") return;
        await yieldIfDue();
      }
    } finally {
      await background.end();
    }
  }

  const conversations = listConversations(plan).take(ports.concurrency).toArray();
  const workers = conversations.length;
  const all = Array.from({ length: workers }, begin);
  try {
    await Promise.all(all);
  } catch (error) {
    failure.abort(error);
    await Promise.allSettled(all); // no turn is recorded after the run has ended
    throw error;
  }
  return isPaused() ? "paused" : "finished";
}

/** Work in the background, one piece at a time. */
interface BackgroundWork {
  /** Waits for the piece before, and starts this one; `ended` is its end. */
  begin(work: () => Promise<void>): Promise<{ ended: Promise<void> }>;
  /** Waits for the last piece. */
  end(): Promise<void>;
}

/**
 * At most one piece is running; if it fails, the next `begin` or `end` rejects. A piece starts when
 * the event loop has nothing else to do: if many replies arrive together, the next questions are
 * sent first, and the replies are assessed while the endpoint is busy.
 */
function createBackgroundWork(): BackgroundWork {
  let last = Promise.resolve();
  return {
    async begin(work) {
      await last;
      last = new Promise<void>((resolve) => setImmediate(resolve)).then(work);
      last.catch(() => {});
      return { ended: last };
    },
    end: () => last,
  };
}

/** What an attempt at a scenario is asked, and after what. */
interface ConversationWay {
  scenario: Scenario;
  /** Those before it are not asked. */
  firstTurn: number;
  /** Whether turns are asked after the references instead of the generated replies. */
  afterReferences: boolean;
}

/**
 * One conversation. Resolves when its last question is answered; `isWhole` when all of it is stored,
 * with false if a part is left.
 */
async function converse(
  { scenario, firstTurn, afterReferences }: ConversationWay,
  { position, isContinued, signal: lost }: TakenConversation,
  ports: RunPorts & { background: BackgroundWork },
): Promise<{ isWhole: Promise<boolean> }> {
  const { recorder, isPaused, background } = ports;
  const finished = isContinued ? ports.finished : undefined;
  const history: ConversationMessage[] = [];
  /** What checks of the conversation look at: also after references, the replies of the model. */
  const said: ConversationMessage[] = [];
  let spent: Spent = { latencyMs: 0, outputTokens: 0 };
  const known = await finished?.turns(position);
  const replies = await finished?.replies(position);
  let isAskedAgain = false;
  let isTaken = false;
  let allStored = Promise.resolve();
  for (const [turn, interaction] of scenario.interactions.entries()) {
    if (turn < firstTurn) {
      history.push(...sayReference(interaction));
      said.push(...sayReference(interaction));
      continue;
    }
    if (isTaken || isPaused?.()) return { isWhole: allStored.then(() => false) };
    const stored = known?.get(turn);
    // An earlier reply after a turn that is asked again belongs to another conversation.
    const isOther: boolean = isAskedAgain && !afterReferences;
    const earlier: EarlierReply | undefined = isOther ? undefined : replies?.get(turn);
    isAskedAgain ||= !stored && !earlier;
    const answer: Answer = stored
      ? toAnswer(stored)
      : earlier ?? await ask(interaction, history, ports);
    if (!stored) {
      const turnPosition = { ...position, turn };
      const saidBefore = said.length;
      const conversation = () => said.slice(0, saidBefore);
      const before = spent;
      // Now, not in the background work: a slow judge may still be busy with the reply before.
      const received = answer.reply && !earlier
        ? recorder.receive?.(turnPosition, answer)
        : undefined;
      received?.catch(() => {}); // rethrown in the background work
      const piece = await background.begin(async () => {
        if (isTaken) return; // this turn follows one of another conversation
        await received;
        const started = performance.now();
        const result = await toResult(interaction, answer, {
          ...ports,
          turnPosition,
          conversation,
          spentBefore: () => before,
          isSecondWay: firstTurn > 0,
        });
        const tookMs = Math.round(answer.latencyMs + performance.now() - started);
        isTaken ||= lost?.aborted ?? false;
        if (isTaken) return;
        try {
          await recorder.record(turnPosition, result, { tookMs });
        } catch (error) {
          if (!(error instanceof ConversationTaken)) throw error;
          isTaken = true;
        }
      });
      allStored = piece.ended;
    }
    if (afterReferences) history.push(...sayReference(interaction));
    if (!answer.reply) continue; // a failed turn is not part of the conversation
    said.push(...say(interaction, answer.reply.content));
    if (!afterReferences) history.push(...say(interaction, answer.reply.content));
    spent = spend(spent, answer);
  }
  return { isWhole: allStored.then(() => !isTaken) };
}

function say({ user_message }: Interaction, reply: string): ConversationMessage[] {
  return [{ role: "user", content: user_message }, { role: "assistant", content: reply }];
}

function sayReference(interaction: Interaction): ConversationMessage[] {
  return say(interaction, interaction.reference_reply ?? "");
}

function spend({ latencyMs, outputTokens }: Spent, answer: TimedReply): Spent {
  const tokens = answer.reply.usage?.output_tokens;
  return {
    latencyMs: latencyMs + answer.latencyMs,
    outputTokens: outputTokens === null || tokens === undefined ? null : outputTokens + tokens,
  };
}

/** The position of an answer, and the conversation before it. */
type AnswerContext =
  & { turnPosition: TurnPosition; isSecondWay: boolean }
  & Pick<ReplyCircumstances, "conversation" | "spentBefore">;

/** The outcome of a call: a reply, or the reason why there is none that can be scored. */
type Answer =
  | (TimedReply & Partial<Pick<EarlierReply, "attempt">>)
  | { latencyMs: number; reply?: never; error: InteractionError; textless?: TargetReply };

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
    if (!reply.textless) return { reply, latencyMs: latencyMs() };
    const error = { ...reply.textless, status: 200 };
    return { error, textless: reply, latencyMs: latencyMs() };
  } catch (error) {
    if (isAbort(error)) throw error;
    return { error: describe(error), latencyMs: latencyMs() };
  }
}

/** Of a turn that is stored already only what the conversation needs. */
function toAnswer(result: InteractionResult): Answer {
  const { agent_reply: content, usage, latency_ms: latencyMs, error } = result;
  return error ? { error, latencyMs } : { reply: { content, usage }, latencyMs };
}

/** What a result adds to its interaction. A result that is sent in again must not keep the old one. */
const OUTCOME_FIELDS = new Set(
  Object.keys(InteractionResult.shape).filter((field) => !(field in Interaction.shape)),
);
/** Names that callers may use themselves, unless the run has a value for them. */
const SHARED_FIELDS = new Set(["tool_calls", "cost", "judge_cost"]);

const isCost = (value: unknown) => Cost.nullable().safeParse(value).success;

/** What the caller sent, without the results of an earlier run. */
function ownFields(interaction: Interaction, { isPriced }: Pick<Target, "isPriced">): Interaction {
  const isOurs = (field: string) => {
    if (!OUTCOME_FIELDS.has(field)) return false;
    if (!SHARED_FIELDS.has(field)) return true;
    if (field === "tool_calls") return interaction.reference_tools !== undefined;
    return isPriced === true || isCost(interaction[field]); // else it would count as this run's
  };
  const entries = Object.entries(interaction).filter(([field]) => !isOurs(field));
  return Object.fromEntries(entries) as Interaction;
}

async function toResult(
  interaction: Interaction,
  answer: Answer,
  ports: RunPorts & AnswerContext,
): Promise<InteractionResult> {
  const { assessor } = ports;
  const { reply, latencyMs: latency_ms } = answer;
  const own = ownFields(interaction, ports.target);
  const reference_reply = interaction.reference_reply ?? "";
  if (!reply) {
    return {
      ...own,
      reference_reply,
      agent_reply: REQUEST_FAILED,
      generated_metadata: {},
      scores: await assessor.failed(interaction),
      ...(ports.isSecondWay && { history_of: "reference" as const }),
      latency_ms,
      ...describeReply(answer.textless, ports.target),
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
    ...(ports.isSecondWay && { history_of: "reference" as const }),
    ...(reply.toolCalls && { tool_calls: reply.toolCalls }),
    latency_ms,
    ...describeReply(reply, ports.target),
  };
}

/** The fields of a result that come from the endpoint's answer, beside the text. */
function describeReply(reply: TargetReply | undefined, { isPriced }: Pick<Target, "isPriced">) {
  const { usage = null, finishReason = null, reasoning, encoding, cost = null } = reply ?? {};
  return {
    usage,
    finish_reason: finishReason,
    ...(isTruncated(finishReason) && { truncated: true as const }),
    ...(reasoning !== undefined && { reasoning }),
    ...(encoding && { reply_encoding: encoding }),
    ...(isPriced && { cost }),
  };
}

/** The reasons in `missing_scores` if assessing a reply threw, or ended the process. */
const UNSCORED = "scoring failed; see the service's log";
const GIVEN_UP = "given up: the service crashed each time it scored this reply";

/** If scoring fails, only this turn lacks its scores: the run continues. */
async function assess(
  interaction: Interaction,
  { reply, latencyMs, attempt = (work) => work() }:
    & TimedReply
    & Partial<Pick<EarlierReply, "attempt">>,
  { assessor, signal, onUnscored, turnPosition, conversation, spentBefore }:
    & RunPorts
    & AnswerContext,
): Promise<Assessment> {
  const without = (error: unknown, reason: string) => {
    onUnscored?.(turnPosition, error);
    return { generatedMetadata: {}, ...assessor.unscored(interaction, reason) };
  };
  const scoring = attempt(async () => {
    try {
      return await assessor.assess(interaction, reply.content, {
        latencyMs,
        usage: reply.usage,
        toolCalls: reply.toolCalls,
        conversation,
        spentBefore,
      });
    } catch (error) {
      if (signal.aborted) throw error;
      return without(error, UNSCORED);
    }
  });
  return await scoring ?? without(new Error(GIVEN_UP), GIVEN_UP);
}

function describe(error: unknown): InteractionError {
  if (!(error instanceof ProviderError)) throw error; // a fault of this service, not of the endpoint
  const { failure } = error;
  return {
    code: error.code,
    status: failure.kind === "status" ? failure.status : null,
    detail: error.message,
  };
}
