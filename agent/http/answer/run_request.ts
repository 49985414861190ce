import { defined } from "../../../shared/service/fields.ts";
import type { AgentEvent, AgentRequest, ToolEvent } from "../../core/agent_message.ts";
import { AppError, notFound } from "../../../shared/service/errors.ts";
import type { Capacity } from "../../../shared/http/connection.ts";
import { toProblem } from "../../../shared/http/answer.ts";
import type { RequestContext } from "../../../shared/http/router.ts";
import type { ToolDefinition } from "../../../shared/providers/provider.ts";
import { chooseModel, type ModelChoice } from "../../core/models/choice.ts";
import { splitPrompt, toCallerMessages } from "../../core/run/caller_messages.ts";
import type { PreparedRun, Runner, RunnerDeps, RunReport } from "../../core/run/runner.ts";
import { type OutgoingEvent, type Push, streamEvents, type StreamOptions } from "./event_stream.ts";
import type { KeptStreams } from "./kept_streams.ts";
import type { HistoryRepairs } from "../../core/run/history.ts";

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
    settings: defined({
      temperature: temperature ?? undefined,
      maxTokens: maxTokens ?? undefined,
    }),
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

/** Writes one run as the events of a protocol. Each method returns the next events. */
export interface RunEncoder {
  /** Of the answer. */
  headers?: Record<string, string> | undefined;
  event(event: AgentEvent): OutgoingEvent[];
  finish(ended: EndedRun): OutgoingEvent[];
  /** After the stream has opened. */
  fail(error: unknown): OutgoingEvent[];
}

/** Answers with the events of a run. A failure before the first of them is thrown. */
export function streamRun(
  run: PreparedRun,
  encoder: RunEncoder,
  options: StreamOptions,
): Promise<Response> {
  return streamEvents({
    ...options,
    async produce({ push, signal }) {
      const emit = (event: AgentEvent) => pushAll(push, encoder.event(event));
      const report = await run.start({ signal, emit });
      Object.assign(options.context.fields, accountFields(report));
      await pushAll(push, encoder.finish({ report, repairs: run.repairs }));
    },
    sendError: (push, error) => pushAll(push, encoder.fail(error)),
    headers: () => ({ ...encoder.headers, ...runHeaders(run) }),
  });
}

/** One event is pushed without a further promise: a run has one for each token. */
function pushAll(push: Push, events: OutgoingEvent[]): Promise<void> {
  return events.length === 1 ? push(events[0]!) : pushEach(push, events);
}

async function pushEach(push: Push, events: OutgoingEvent[]): Promise<void> {
  for (const event of events) await push(event);
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

/** What a whole run cost, for the stream's last event. Times are in milliseconds. */
export function toAccount({ report, repairs }: EndedRun) {
  return defined({
    model: report.model,
    model_calls: report.modelCalls,
    tool_calls: report.toolCalls,
    input_tokens: report.inputTokens,
    output_tokens: report.outputTokens,
    model_ms: round(report.modelMs),
    tools_ms: round(report.toolMs),
    stopped: report.stoppedBy ?? null,
    reply_encoding: report.reply.encoding,
    history_repairs: describeRepairs(repairs),
  });
}

/** A run that has ended well. */
interface EndedRun {
  report: RunReport;
  repairs: HistoryRepairs;
}

/** The same figures as response headers. */
export function accountHeaders({ report, repairs }: EndedRun): Record<string, string> {
  return defined({
    ...repairHeaders(repairs),
    "x-agent-model": toHeaderValue(report.model),
    "x-agent-model-calls": String(report.modelCalls),
    "x-agent-tool-calls": String(report.toolCalls),
    "x-agent-input-tokens": String(report.inputTokens),
    "x-agent-output-tokens": String(report.outputTokens),
    "server-timing": `model;dur=${round(report.modelMs)}, tools;dur=${round(report.toolMs)}`,
    "x-agent-stopped": report.stoppedBy,
    "x-agent-reply-encoding": report.reply.encoding,
  });
}

/** The same figures for the log. */
export function accountFields(report: RunReport): Record<string, string | number> {
  return defined({
    model: report.model,
    input_tokens: report.inputTokens,
    output_tokens: report.outputTokens,
    model_calls: report.modelCalls,
    tool_calls: report.toolCalls,
    stopped_by: report.stoppedBy,
    reply_encoding: report.reply.encoding,
  });
}

/** The headers of a stream: what is known before the answer. */
export function runHeaders({ repairs, model }: PreparedRun): Record<string, string> {
  return { ...repairHeaders(repairs), "x-agent-model": toHeaderValue(model()) };
}

/** `x-history-repairs: paired=1, merged=2`; no header if nothing was repaired. */
function repairHeaders(repairs: HistoryRepairs): Record<string, string> {
  const text = describeRepairs(repairs);
  return text ? { "x-history-repairs": text } : {};
}

/** A model id may contain any character; a header value may not. */
export function toHeaderValue(model: string): string {
  return model.toWellFormed().replace(/[^\x20-\x7e]/gu, encodeURIComponent);
}

function describeRepairs(repairs: HistoryRepairs): string | null {
  const done = Object.entries(repairs).filter(([, count]) => count > 0);
  return done.map(([name, count]) => `${name}=${count}`).join(", ") || null;
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** The name of the caller's API key; empty if the service has none. */
export function callerOf({ fields }: RequestContext): string {
  return String(fields.caller ?? "");
}

/** True if the caller wants to know what the tools do: `x-agent-events: tools`. */
export function wantsToolEvents({ headers }: Request): boolean {
  return headers.get("x-agent-events")?.trim().toLowerCase() === "tools";
}

/** True for `x-agent-approve: tools`. Any other value is a 400: it must not mean "do not ask". */
export function wantsApproval(headers: Headers): boolean {
  const value = headers.get("x-agent-approve")?.trim().toLowerCase();
  if (value === undefined || value === "tools") return value !== undefined;
  const reason = 'the only value is "tools"';
  throw new AppError(400, "invalid_request", `cannot use the header x-agent-approve: ${reason}`);
}

/** Collects the tool events of a run; `undefined` if the caller did not ask for them. */
export function collectToolEvents(request: Request) {
  if (!wantsToolEvents(request)) return undefined;
  const seen: ToolEvent[] = [];
  return { seen, add: (event: ToolEvent) => void seen.push(event) };
}
