import pLimit from "p-limit";
import { z } from "zod";
import { AppError, isAbort } from "../../shared/errors.ts";
import type { Logger } from "../../shared/log.ts";
import type { ChatMessage, ToolCall } from "../../shared/providers/provider.ts";
import { abortError, untilAbort } from "../../shared/abort.ts";
import type { Emit } from "./events.ts";
import { createPacer, type Pacer } from "../../shared/pacer.ts";
import { shorten } from "../../shared/shorten.ts";
import { parseToolArguments } from "./tool_call.ts";
import { TURN_LIMITS, type TurnLimits } from "./call_limits.ts";
import { type Toolbox, ToolError } from "../tools/tool.ts";

/** What a call may take, and a turn of them. If one is unset, the usual one holds. */
export interface ToolLimits extends TurnLimits {
  timeoutMs: number;
  /** A longer result is cut, with a note that says so. */
  maxCharacters: number;
}

/** How much of arguments that cannot be used is repeated. */
const MAX_SHOWN = 500;

const USUAL_LIMITS: ToolLimits = { timeoutMs: 30_000, maxCharacters: 50_000, ...TURN_LIMITS };

export interface ToolCallOptions extends Partial<ToolLimits> {
  tools: Toolbox;
  log: Logger;
  /** Answers for calls that are not to be run, by the call's id. */
  refusals?: ReadonlyMap<string, string>;
  signal?: AbortSignal | undefined;
  emit?: Emit | undefined;
}

/**
 * Runs the calls of one turn, `atOnce` at a time, and answers them in their order. A call that
 * fails is answered by what the model needs to mend it; only an abort, or `emit`, makes this throw.
 * No call starts after that.
 */
export async function runToolCalls(
  calls: ToolCall[],
  options: ToolCallOptions,
): Promise<ChatMessage[]> {
  const { signal, refusals, atOnce = USUAL_LIMITS.atOnce } = options;
  const turn: Turn = { ...options, pacer: createPacer(), maxCharacters: shareOf(calls, options) };
  const inPlace = pLimit(atOnce);
  const run = (call: ToolCall) =>
    calls.length <= atOnce || refusals?.has(call.id)
      ? runToolCall(call, turn)
      : inPlace(() => runToolCall(call, turn));
  try {
    return await untilAbort(Promise.all(calls.map(run)), signal);
  } catch (error) {
    inPlace.clearQueue();
    throw error;
  }
}

interface Turn extends ToolCallOptions {
  /** The length of one result. */
  maxCharacters: number;
  /** Tools that only compute would hold the event loop. */
  pacer: Pacer;
}

/** Equal shares: what a result may have does not depend on which call is done first. */
function shareOf(calls: ToolCall[], options: ToolCallOptions): number {
  const { maxCharacters, maxResultCharacters } = { ...USUAL_LIMITS, ...options };
  const running = calls.length - (options.refusals?.size ?? 0);
  return Math.min(maxCharacters, Math.floor(maxResultCharacters / Math.max(1, running)));
}

async function runToolCall(call: ToolCall, options: Turn): Promise<ChatMessage> {
  const { id, name } = call;
  const { emit } = options;
  await emit?.({
    type: "tool_call",
    id,
    name,
    args: shownArguments(call, options),
  });
  const started = performance.now();
  const { status, content } = await answer(call, options);
  const ms = Math.round(performance.now() - started);
  await emit?.({ type: "tool_result", id, name, content, status, ms });
  return { role: "tool", toolCallId: id, content };
}

/** Those of a call that is not run may be of any length. */
function shownArguments(call: ToolCall, { refusals }: ToolCallOptions) {
  const { id, arguments: text } = call;
  if (refusals?.has(id) && text.length > MAX_SHOWN) return text.slice(0, MAX_SHOWN);
  return parseToolArguments(text) ?? text;
}

async function answer(
  call: ToolCall,
  options: Turn,
): Promise<{ status: "ok" | "error"; content: string }> {
  try {
    return { status: "ok", content: await execute(call, options) };
  } catch (error) {
    if (isAbort(error) && options.signal?.aborted) throw error;
    const reason = describeFailure(error, { call, options });
    return { status: "error", content: cut(`Error: ${reason}`, options.maxCharacters) };
  }
}

async function execute(call: ToolCall, options: Turn): Promise<string> {
  const { tools, refusals, pacer } = options;
  const refusal = refusals?.get(call.id);
  if (refusal) throw new ToolError(refusal);
  const tool = tools.find(call.name);
  if (!tool) throw new ToolError(`there is no tool ${quote(call.name)}; ${list(tools)}`);
  const args = parseToolArguments(call.arguments);
  if (!args) {
    const given = call.arguments.slice(0, MAX_SHOWN);
    throw new ToolError(`the arguments must be one JSON object, and these are not: ${given}`);
  }
  const checked = tool.schema.safeParse(args);
  if (!checked.success) {
    throw new ToolError(`the arguments do not fit\n${z.prettifyError(checked.error)}`);
  }
  while (pacer.isDue()) await pacer();
  const run = (signal: AbortSignal) => tool.run(checked.data, { signal });
  const content = await withinTime(run, { name: call.name, ...options });
  if (content.trim() === "") return "(The tool returned nothing.)";
  return cut(content, options.maxCharacters);
}

/** The tool hears of its time limit as it hears of a caller that left, and is not waited for. */
async function withinTime(
  run: (signal: AbortSignal) => string | Promise<string>,
  { name, signal, timeoutMs = USUAL_LIMITS.timeoutMs }: {
    name: string;
    signal?: AbortSignal | undefined;
    timeoutMs?: number;
  },
): Promise<string> {
  const ending = new AbortController();
  const end = () => ending.abort(abortError());
  const timer = setTimeout(end, timeoutMs);
  signal?.addEventListener("abort", end, { once: true });
  try {
    return await untilAbort(Promise.resolve(run(ending.signal)), ending.signal);
  } catch (error) {
    if (!ending.signal.aborted || signal?.aborted) throw error;
    throw new ToolError(`the tool ${name} took longer than ${timeoutMs / 1000} s and was stopped`);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}

function cut(content: string, maxCharacters: number): string {
  if (content.length <= maxCharacters) return content;
  return `${
    shorten(content, maxCharacters)
  }\n\n(Cut here: the result has ${content.length} characters, and ` +
    `${maxCharacters} is the limit. Ask for less at a time, or make fewer calls in one turn.)`;
}

/** As far as a model needs it to recognise its own words. */
function quote(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}

/** Only errors that were written to be read reach the model: it may repeat them to its user. */
function describeFailure(
  error: unknown,
  { call, options }: { call: ToolCall; options: ToolCallOptions },
): string {
  if (error instanceof ToolError || error instanceof AppError) return error.message;
  options.log.error("tool failed", { tool: call.name, error });
  return `the tool ${call.name} failed; try it with other arguments, or do without it`;
}

function list({ names }: Toolbox): string {
  return names.length === 0 ? "there are none" : `the tools are ${names.join(", ")}`;
}
