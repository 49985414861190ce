import { conflict } from "../../../shared/service/errors.ts";
import type { InteractionResult } from "../../test/interaction_result.ts";
import type { Target } from "../../ask/target.ts";
import type { StoredRun } from "../../store/run_record.ts";
import type { RunStore } from "../../store/store.ts";
import type { Answer, EarlierReply, KnownReplies } from "../manager/run_ports.ts";
import { REQUEST_FAILED } from "../../test/scenario.ts";

/**
 * The replies of a run that need not be asked for: those of its request, or those of the run that it
 * retries. `undefined` if all are asked for.
 */
export function createKnownReplies(
  store: Pick<RunStore, "attemptTurns">,
  { parentId, request: { replies, rescored } }: Pick<StoredRun, "parentId" | "request">,
): KnownReplies | undefined {
  if (parentId !== null && rescored) return scoredReplies(store, parentId);
  if (replies) return givenReplies(replies);
  if (parentId === null) return undefined;
  return async (position) => {
    const turns = await store.attemptTurns(parentId, position);
    const failed = turns.findIndex(({ result }) => result.error);
    return new Map(
      turns.slice(0, failed < 0 ? turns.length : failed)
        .filter(({ result }) => result.missing_scores?.overall !== undefined)
        .map(({ turn, result }) => [turn, toEarlier(result, parentId)]),
    );
  };
}

/** All replies of a run, each with its result there. */
function scoredReplies(store: Pick<RunStore, "attemptTurns">, parentId: string): KnownReplies {
  return async (position) => {
    const turns = await store.attemptTurns(parentId, position);
    return new Map(turns.map(({ turn, result }): [number, Answer] => {
      const { error, latency_ms } = result;
      if (error) return [turn, { error, latencyMs: latency_ms ?? undefined }];
      return [turn, { ...toEarlier(result, parentId), earlier: result }];
    }));
  };
}

/** The replies of a request, which have their positions. */
function givenReplies(replies: NonNullable<StoredRun["request"]["replies"]>): KnownReplies {
  const known = new Map<string, Map<number, Answer>>();
  for (const { scenario, attempt_id, turn, agent_reply } of replies) {
    known.getOrInsertComputed(`${scenario}/${attempt_id}`, () => new Map())
      .set(turn!, toAnswer(agent_reply));
  }
  return ({ scenario, attempt }) =>
    Promise.resolve(known.get(`${scenario}/${attempt + 1}`) ?? new Map());
}

function toAnswer(content: string): Answer {
  if (content !== REQUEST_FAILED) {
    return { reply: { content, usage: null }, latencyMs: undefined };
  }
  const detail = `the reply that was sent is "${REQUEST_FAILED}"`;
  return { error: { code: "request_failed", status: null, detail }, latencyMs: undefined };
}

function toEarlier(result: InteractionResult, parentId: string): EarlierReply {
  const { first_token_ms: firstTokenMs, finish_reason: finishReason, reasoning, cost } = result;
  const { reply_encoding: encoding, tool_calls: toolCalls } = result;
  return {
    latencyMs: result.latency_ms ?? undefined,
    fromRun: result.reply_from_run ?? result.copied_from_run ?? parentId,
    reply: {
      content: result.agent_reply,
      usage: result.usage,
      ...(firstTokenMs !== undefined && { firstTokenMs }),
      ...(finishReason !== undefined && { finishReason }),
      ...(reasoning !== undefined && { reasoning }),
      ...(encoding && { encoding }),
      ...(toolCalls && { toolCalls }),
      ...(cost !== undefined && { cost }),
    },
  };
}

/** The target of a run that asks nobody. */
export function nobody({ id, parentId }: Pick<StoredRun, "id" | "parentId">): Target {
  const reason = parentId === null
    ? "a reply that it scores is gone"
    : `the replies of run ${parentId} that it scores were deleted; delete this run, too`;
  return { ask: () => Promise.reject(conflict(`cannot go on with run ${id}: ${reason}`)) };
}
