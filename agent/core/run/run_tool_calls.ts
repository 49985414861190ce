import pLimit from "p-limit";
import { z } from "zod";
import { AppError, isAbort } from "../../../shared/service/errors.ts";
import { defined, type Fields, filterFields } from "../../../shared/service/fields.ts";
import type { Logger } from "../../../shared/service/log.ts";
import type { ChatMessage, ContentPart, ToolCall } from "../../../shared/providers/provider.ts";
import { limitImages } from "../../../shared/providers/content.ts";
import {
  abortError,
  createYielder,
  untilAbort,
  type Yielder,
} from "../../../shared/service/waiting.ts";
import type { Emit, ToolEvent } from "../agent_message.ts";
import { shorten } from "../../../shared/service/text.ts";
import { parseToolArguments } from "../../../shared/providers/openai_messages.ts";
import { BLANK_RESULT } from "./turn_calls.ts";
import { type Tool, type Toolbox, ToolError, type ToolResult } from "../tools/tool.ts";

const TIMEOUT_MS = 30_000;
/** A longer result is cut, with a note about it. */
const MAX_CHARACTERS = 50_000;
/** Length of all results of one turn. Each may have an equal share of it. */
const MAX_TURN_CHARACTERS = 400_000;
/** Calls of one turn that run at the same time. */
const AT_ONCE = 16;

/** How many characters of unusable arguments are repeated. */
const MAX_SHOWN = 500;

interface ToolCallOptions {
  tools: Toolbox;
  log: Logger;
  /** Limit of one call. */
  timeoutMs?: number | undefined;
  /** Calls that are not run: the errors to answer them with, by call id. */
  refusals?: ReadonlyMap<string, string>;
  signal?: AbortSignal | undefined;
  emit?: Emit<ToolEvent> | undefined;
}

/**
 * Runs the calls of one turn, at most `AT_ONCE` at a time, and answers them in their order. The
 * answer of a failed call tells the model how to correct it. Throws only if the run is aborted or
 * if `emit` throws; calls that are still queued are then not started.
 */
export async function runToolCalls(
  calls: ToolCall[],
  options: ToolCallOptions,
): Promise<ChatMessage[]> {
  const { signal, refusals } = options;
  const turn: Turn = {
    ...options,
    yielder: createYielder(),
    maxCharacters: shareOf(calls, options),
  };
  const limited = calls.length > AT_ONCE ? pLimit(AT_ONCE) : undefined;
  const run = (call: ToolCall) =>
    !limited || refusals?.has(call.id)
      ? runToolCall(call, turn)
      : limited(() => runToolCall(call, turn));
  return limitTurnImages(await untilAbort(Promise.all(calls.map(run)), signal));
}

/** All the images of a turn stay within the limits of one request. */
function limitTurnImages(answers: ToolAnswer[]): ToolAnswer[] {
  if (!answers.some(({ images }) => images)) return answers;
  const kept = new Set(limitImages(answers.flatMap(({ images = [] }) => images)));
  return answers.map(({ images = [], ...answer }) => {
    const sent = images.filter((image) => kept.has(image));
    return defined({ ...answer, images: sent.length > 0 ? sent : undefined });
  });
}

type ToolAnswer = Extract<ChatMessage, { role: "tool" }>;

interface Turn extends ToolCallOptions {
  /** Of one result. */
  maxCharacters: number;
  /** Yields to the event loop between tools that only compute. */
  yielder: Yielder;
}

/** Equal shares, so that the length of a result does not depend on which call ends first. */
function shareOf(calls: ToolCall[], { refusals }: ToolCallOptions): number {
  const running = calls.filter(({ id }) => !refusals?.has(id));
  return Math.min(MAX_CHARACTERS, Math.floor(MAX_TURN_CHARACTERS / Math.max(1, running.length)));
}

async function runToolCall(call: ToolCall, options: Turn): Promise<ToolAnswer> {
  const { id, name } = call;
  const { emit } = options;
  await emit?.({
    type: "tool_call",
    id,
    name,
    args: shownArguments(call, options),
  });
  const started = performance.now();
  const { status, content, images } = await answer(call, options);
  const ms = Math.round(performance.now() - started);
  await emit?.({ type: "tool_result", id, name, content, status, ms });
  return defined({ role: "tool", toolCallId: id, content, images });
}

/** The arguments as events show them. Those of a call that is not run may be very long. */
function shownArguments(call: ToolCall, { refusals }: ToolCallOptions) {
  const { id, arguments: text } = call;
  if (refusals?.has(id) && text.length > MAX_SHOWN) return text.slice(0, MAX_SHOWN);
  return parseToolArguments(text) ?? text;
}

async function answer(
  call: ToolCall,
  options: Turn,
): Promise<{ status: "ok" | "error"; content: string; images?: ContentPart[] | undefined }> {
  try {
    return { status: "ok", ...await execute(call, options) };
  } catch (error) {
    if (isAbort(error) && options.signal?.aborted) throw error;
    const reason = describeFailure(error, { call, options });
    return { status: "error", content: cut(`Error: ${reason}`, options.maxCharacters) };
  }
}

async function execute(
  call: ToolCall,
  options: Turn,
): Promise<{ content: string; images: ContentPart[] | undefined }> {
  const { tools, refusals, yielder, signal } = options;
  const refusal = refusals?.get(call.id);
  if (refusal) throw new ToolError(refusal);
  const tool = tools.find(call.name);
  if (!tool) throw new ToolError(`unknown tool ${quote(call.name)}; ${list(tools)}`);
  const args = parseToolArguments(call.arguments);
  if (!args) {
    const given = call.arguments.slice(0, MAX_SHOWN);
    throw new ToolError(`the arguments must be one JSON object, but they are: ${given}`);
  }
  const checked = checkArguments(tool, args);
  if (!checked.success) {
    throw new ToolError(`the arguments are invalid\n${z.prettifyError(checked.error)}`);
  }
  while (!signal?.aborted && yielder.isDue()) await yielder();
  if (signal?.aborted) throw abortError(signal);
  const run = (signal: AbortSignal) => tool.run(checked.data, { signal, callId: call.id });
  const result = await withinTime(run, { name: call.name, ...options });
  const { text, images = [] } = typeof result === "string" ? { text: result } : result;
  return {
    content: text.trim() === "" ? BLANK_RESULT : cut(text, options.maxCharacters),
    images: images.length > 0 ? images : undefined,
  };
}

/** Models send `null` for an argument that they could leave out. */
function checkArguments({ schema }: Tool, args: Fields) {
  const checked = schema.safeParse(args);
  if (checked.success) return checked;
  const again = schema.safeParse(filterFields(args, (value) => value !== null));
  return again.success ? again : checked;
}

/** Aborts the tool's signal at the time limit or when the caller leaves, and does not wait for it. */
async function withinTime(
  run: (signal: AbortSignal) => ToolResult | Promise<ToolResult>,
  { name, signal, timeoutMs = TIMEOUT_MS }: {
    name: string;
    signal?: AbortSignal | undefined;
    timeoutMs?: number | undefined;
  },
): Promise<ToolResult> {
  const ending = new AbortController();
  const end = () => ending.abort(abortError());
  const late = () => ending.abort(new DOMException("the time limit is over", "TimeoutError"));
  const timer = setTimeout(late, timeoutMs);
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
    `the limit is ${maxCharacters}. Ask for less at a time, or make fewer calls in one turn.)`;
}

/** Enough for the model to recognise the name that it sent. */
function quote(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}

/** The model may repeat errors to its user, so it gets only messages that are written for callers. */
function describeFailure(
  error: unknown,
  { call, options }: { call: ToolCall; options: ToolCallOptions },
): string {
  if (error instanceof ToolError || error instanceof AppError) return error.message;
  options.log.error("tool failed", { tool: call.name, error });
  return `the tool ${call.name} failed; try other arguments, or answer without it`;
}

function list({ names }: Toolbox): string {
  return names.length === 0 ? "no tools are available" : `the tools are ${names.join(", ")}`;
}
