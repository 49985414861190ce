import { isAbort } from "../../shared/errors.ts";
import { ProviderError } from "../../shared/providers/provider.ts";
import type {
  InteractionError,
  InteractionResult,
} from "../../shared/schemas/interaction_result.ts";
import type { Interaction } from "../../shared/schemas/scenario.ts";
import type { TargetReply } from "../endpoint/reply.ts";
import type { ConversationMessage } from "../endpoint/target.ts";
import type { EarlierReply, RunPorts, TimedReply } from "./run_ports.ts";

/** The outcome of a call: a reply, or the reason why there is none that can be scored. */
export type Answer =
  | (TimedReply & Partial<Pick<EarlierReply, "attempt" | "fromRun">>)
  | { latencyMs: number; reply?: never; error: InteractionError; textless?: TargetReply };

/** Asks the endpoint. A call that fails does not reject, unless it was aborted. */
export async function ask(
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
