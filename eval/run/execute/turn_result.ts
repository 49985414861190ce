import { type InteractionError, InteractionResult } from "../../test/interaction_result.ts";
import { Interaction, REQUEST_FAILED } from "../../test/scenario.ts";
import { referenceOf } from "../../score/references.ts";
import { Cost } from "../../test/cost.ts";
import type { Assessment, Assessor, ReplyCircumstances } from "../../score/assessment.ts";
import { isTruncated } from "../../../shared/providers/openai_messages.ts";
import type { TargetReply } from "../../ask/reply.ts";
import type { ConversationMessage, Target } from "../../ask/target.ts";
import type { TurnPosition } from "../../store/turn_record.ts";
import type { Answer, EarlierReply, RunPorts, TimedReply } from "../manager/run_ports.ts";
import { isAbort } from "../../../shared/service/errors.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";

/** The position of an answer, and the conversation before it. */
type AnswerContext =
  & { turnPosition: TurnPosition }
  & Pick<ReplyCircumstances, "conversation" | "spentBefore">;

/** What a result adds to its interaction. If a result is sent in as a batch, these are removed. */
const OUTCOME_FIELDS = new Set(
  Object.keys(InteractionResult.shape).filter((field) => !(field in Interaction.shape)),
);
/** Names that callers may use for fields of their own, unless the run sets them. */
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

/** The result of one turn: what the caller sent, the reply and its scores. */
export async function toResult(
  interaction: Interaction,
  answer: Answer,
  ports: RunPorts & AnswerContext,
): Promise<InteractionResult> {
  const assessor = await ports.assessor;
  const { reply, latencyMs: latency_ms = null } = answer;
  const own = ownFields(interaction, ports.target);
  const reference_reply = referenceOf(interaction) ?? "";
  if (!reply) {
    return {
      ...own,
      reference_reply,
      agent_reply: REQUEST_FAILED,
      generated_metadata: {},
      scores: await assessor.failed(interaction),
      latency_ms,
      ...describeReply(answer.textless, ports.target),
      error: answer.error,
    };
  }
  const { generatedMetadata, ...assessed } = await assess(interaction, answer, {
    ...ports,
    assessor,
  });
  return {
    ...own,
    reference_reply,
    agent_reply: reply.content,
    generated_metadata: generatedMetadata,
    ...assessed,
    ...(reply.toolCalls && { tool_calls: reply.toolCalls }),
    ...(answer.fromRun !== undefined && { reply_from_run: answer.fromRun }),
    latency_ms,
    ...describeReply(reply, ports.target),
  };
}

/** The fields of a result that come from the endpoint's answer, beside the text. */
function describeReply(reply: TargetReply | undefined, { isPriced }: Pick<Target, "isPriced">) {
  const { usage = null, finishReason = null, reasoning, encoding, cost = null } = reply ?? {};
  const first_token_ms = reply?.firstTokenMs;
  return {
    ...(first_token_ms !== undefined && { first_token_ms }),
    usage,
    finish_reason: finishReason,
    ...(isTruncated(finishReason) && { truncated: true as const }),
    ...(reasoning !== undefined && { reasoning }),
    ...(encoding && { reply_encoding: encoding }),
    ...(isPriced && { cost }),
  };
}

/** The reason in `missing_scores` if assessing a reply threw. */
const UNSCORED = "scoring failed; see the service's log";

/** If scoring fails, only this turn lacks its scores: the run continues. */
async function assess(
  interaction: Interaction,
  { reply, latencyMs, earlier }: TimedReply & Partial<Pick<EarlierReply, "earlier">>,
  { assessor, signal, onUnscored, turnPosition, conversation, spentBefore }:
    & Omit<RunPorts, "assessor">
    & { assessor: Assessor }
    & AnswerContext,
): Promise<Assessment> {
  try {
    return await assessor.assess(interaction, reply.content, {
      latencyMs,
      firstTokenMs: reply.firstTokenMs,
      usage: reply.usage,
      toolCalls: reply.toolCalls,
      conversation,
      spentBefore,
      earlier,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    onUnscored?.(turnPosition, error);
    return { generatedMetadata: {}, ...assessor.unscored(interaction, UNSCORED) };
  }
}

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
  return { role: "user" as const, content, ...(parts && { parts }) };
}

/** What a conversation needs of a turn that is already stored. */
export function toAnswer(result: InteractionResult): Answer {
  const { agent_reply: content, usage, latency_ms, error } = result;
  const latencyMs = latency_ms ?? undefined;
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
