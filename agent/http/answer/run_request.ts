import type { AgentRequest } from "../../core/agent_message.ts";
import { notFound } from "../../../shared/service/errors.ts";
import type { Capacity } from "../../../shared/http/admission.ts";
import { toProblem } from "../../../shared/http/problem.ts";
import type { RequestContext } from "../../../shared/http/router.ts";
import type { ToolDefinition } from "../../../shared/providers/provider.ts";
import { chooseModel, type ModelChoice } from "../../core/models/choice.ts";
import { splitPrompt, toCallerMessages } from "../../core/run/caller_messages.ts";
import type { PreparedRun, Runner, RunnerDeps } from "../../core/run/runner.ts";
import { callerOf, wantsApproval } from "./accounting.ts";
import { streamEvents, type StreamOptions } from "./event_stream.ts";
import type { KeptStreams } from "./kept_streams.ts";

/** What the routes that answer with runs need. */
export interface RunRouteDeps extends RunnerDeps {
  runner: Runner;
  /** Counts running runs against `MAX_RUNS`. */
  runs: Capacity;
  streams: KeptStreams;
}

/** The model of the header `x-model-id`. */
export function readModelId(
  request: Request,
  { config }: RunRouteDeps,
  { fields }: RequestContext,
): ModelChoice {
  const choice = chooseModel(request.headers.get("x-model-id"), {
    where: "the header x-model-id",
    rules: config,
  });
  fields.model = choice.model;
  return choice;
}

interface RunOf {
  deps: RunRouteDeps;
  request: Request;
  context: RequestContext;
}

export function prepareRun(
  { messages, temperature, max_tokens: maxTokens }: AgentRequest,
  { deps, request, context, choice, callerTools = [], conversationId }: RunOf & {
    choice: ModelChoice;
    callerTools?: ToolDefinition[] | undefined;
    conversationId?: string;
  },
): PreparedRun {
  const { systemPrompt, rest } = splitPrompt(toCallerMessages(messages));
  return deps.runner.prepare({
    choice,
    caller: callerOf(context),
    needsApproval: wantsApproval(request.headers),
    messages: rest,
    systemPrompt,
    callerTools,
    conversationId,
    settings: {
      ...(typeof temperature === "number" && { temperature }),
      ...(typeof maxTokens === "number" && { maxTokens }),
    },
  });
}

/**
 * Counts the run of a stream until its caller leaves. With `x-agent-resume` it is counted until it
 * ends, and its stream is kept.
 */
export function countRun(
  { headers }: Request,
  { deps: { runs, streams }, context, streamId: id }: Omit<RunOf, "request"> & { streamId: string },
): StreamOptions["keep"] {
  const onEnd = runs.take();
  if (headers.get("x-agent-resume")?.trim() === "true") {
    return (stream) => streams.keep({ ...stream, id, caller: callerOf(context), onEnd });
  }
  context.connection.onClose(onEnd);
}

/** Answers with the rest of a kept stream. */
export async function resumeStream(
  request: Request,
  { streams, context, headers = {} }: {
    streams: KeptStreams;
    context: RequestContext;
    headers?: Record<string, string>;
  },
): Promise<Response> {
  const id = context.params.id!;
  const lastEventId = request.headers.get("last-event-id");
  const produce = streams.resume({ id, caller: callerOf(context), lastEventId });
  if (!produce) throw notFound(`there is no stream ${id}, or no longer`);
  return await streamEvents({
    produce,
    signal: request.signal,
    context,
    sendError: (push, error) =>
      push({ event: "error", data: JSON.stringify(toProblem(error, context.requestId)) }),
    headers: () => headers,
  });
}
