import type { InteractionError, InteractionResult } from "../../test/interaction_result.ts";
import type { Assessor } from "../../score/assessment.ts";
import type { TargetReply } from "../../ask/reply.ts";
import type { Target } from "../../ask/target.ts";
import type { AttemptPosition, TurnPosition } from "../../store/turn_record.ts";
import type { Limiter } from "../fair_limiter.ts";

/**
 * Thrown by `Recorder.record` if the turn is already stored: another process has this conversation.
 * Only the conversation ends, not the run.
 */
export class ConversationTaken extends Error {
  override readonly name = "ConversationTaken";
}

/** Called for every reply and every finished turn; the turns of one conversation come in order. */
export interface Recorder {
  /** Called when a reply arrives: it is paid for. */
  receive?(reply: TargetReply): void;
  record(
    position: TurnPosition,
    result: InteractionResult,
    /** The time from the question to the scores. */
    timing: { tookMs: number },
  ): void | Promise<void>;
}

export interface TimedReply {
  reply: TargetReply;
  /** `undefined` if the reply existed before the run. */
  latencyMs: number | undefined;
}

/** A reply of the run that is retried. Its score is missing there, so it is assessed again. */
export interface EarlierReply extends TimedReply {
  /** The run that asked for it, and paid. */
  fromRun: string;
  /** Its result there, if it is scored again by another measure. */
  earlier?: InteractionResult;
}

interface Unanswered extends Pick<TimedReply, "latencyMs"> {
  reply?: never;
  error: InteractionError;
  textless?: TargetReply;
}

/** The outcome of a call: a reply, or the reason why there is none that can be scored. */
export type Answer =
  & (
    | (TimedReply & Partial<Pick<EarlierReply, "fromRun" | "earlier">>)
    | Unanswered
  )
  & {
    /** Including waits and retries; unset if the call was made before. */
    tookMs?: number;
  };

/** What an earlier process, or the run that this one retries, has already finished. */
export interface Finished {
  /** True if every turn of the attempt is finished. */
  isWhole(position: AttemptPosition): boolean;
  /** The finished turns of an attempt, by turn. */
  turns(position: AttemptPosition): Promise<ReadonlyMap<number, InteractionResult>>;
}

/** The replies of an attempt that are assessed instead of asked for, by turn. */
export type KnownReplies = (position: AttemptPosition) => Promise<ReadonlyMap<number, Answer>>;

/** Everything the runner needs from outside. */
export interface RunPorts {
  target: Target;
  /** Awaited when the first reply is there. */
  assessor: Assessor | Promise<Assessor>;
  recorder: Recorder;
  finished?: Finished;
  replies?: KnownReplies;
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

/** A conversation that this process runs. */
export interface TakenConversation {
  position: AttemptPosition;
  /** True if a part of it may be stored. */
  isContinued: boolean;
  /** Aborted if another process has taken it over; unset if no other process works on the run. */
  signal?: AbortSignal;
  /** Call it when all of its turns are stored. */
  finish(): void;
  /** Call it otherwise: this process or another takes it again. */
  giveBack(): void;
}

/** Hands out the conversations of one run to the workers of this process. */
export interface RunWork {
  /** The next conversation; `undefined` if there is none at this moment. */
  take(): TakenConversation | undefined;
  /**
   * After `take` had none: waits until there may be one, or until no process has an unfinished
   * one. Rejects if the signal aborts.
   */
  wait(signal: AbortSignal): Promise<"more" | "over">;
  /** Call it when this process works no longer on the run; gives back what was not begun. */
  close(): Promise<void>;
}
