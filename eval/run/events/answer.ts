import { isAbort } from "../../../shared/errors.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";
import type { InteractionError, InteractionResult } from "../../schemas/interaction_result.ts";
import type { Interaction } from "../../schemas/scenario.ts";
import type { TargetReply } from "../../endpoint/reply.ts";
import type { ConversationMessage } from "../../endpoint/target.ts";
import type { EarlierReply, RunPorts, TimedReply } from "../manager/run_ports.ts";

/** The outcome of a call: a reply, or the reason why there is none that can be scored. */
export type Answer =
  & (
    | (TimedReply & Partial<Pick<EarlierReply, "fromRun">>)
    | { latencyMs: number; reply?: never; error: InteractionError; textless?: TargetReply }
  )
  & {
    /** With all waits and attempts; unset if the call was made before. */
    tookMs?: number;
  };

/** Asks the endpoint. A call that fails does not reject, unless it was aborted. */
export async function ask(
  interaction: Interaction,
  history: ConversationMessage[],
  { target, recorder, signal }: RunPorts,
): Promise<Answer> {
  signal.throwIfAborted();
  const started = performance.now();
  const took = () => Math.round(performance.now() - started);
  try {
    const reply = await target.ask([...history, toMessage(interaction)], signal);
    const tookMs = took();
    const { latencyMs = tookMs, textless } = reply;
    if (!textless) {
      recorder.receive?.(reply);
      return { reply, latencyMs, tookMs };
    }
    return { error: { status: 200, ...textless }, textless: reply, latencyMs, tookMs };
  } catch (error) {
    if (isAbort(error)) throw error;
    const tookMs = took();
    return { error: describe(error), latencyMs: tookMs, tookMs };
  }
}

/** What the model is asked, with its images if it has some. */
export function toMessage({ user_message: content, user_parts: parts }: Interaction) {
  // A run that is older than the field may have one of the caller's own by its name.
  return { role: "user" as const, content, ...(Array.isArray(parts) && { parts }) };
}

/** Of a turn that is stored already only what the conversation needs. */
export function toAnswer(result: InteractionResult): Answer {
  const { agent_reply: content, usage, latency_ms: latencyMs, error } = result;
  return error ? { error, latencyMs } : { reply: { content, usage }, latencyMs };
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
