import { z } from "zod";
import { AppError, isAbort } from "../shared/errors.ts";
import type { Logger } from "../shared/log.ts";
import type { ChatMessage, ToolCall } from "../shared/providers/provider.ts";
import { abortError, untilAbort } from "../shared/abort.ts";
import { parseArguments } from "./arguments.ts";
import type { Emit } from "./events.ts";
import { type Toolbox, ToolError } from "./tools/tool.ts";

/** What one call may take; `ToolCallOptions` without them means the usual ones. */
export interface ToolLimits {
  timeoutMs: number;
  /** A longer result is cut, with a note that says so. */
  maxCharacters: number;
}

const USUAL_LIMITS: ToolLimits = { timeoutMs: 30_000, maxCharacters: 50_000 };

export interface ToolCallOptions extends Partial<ToolLimits> {
  tools: Toolbox;
  log: Logger;
  /** Answers for calls that are not to be run, by the call's id. */
  refusals?: ReadonlyMap<string, string>;
  signal?: AbortSignal | undefined;
  emit?: Emit | undefined;
}

/**
 * Runs the calls of one turn side by side and answers them in their order. A call that fails is
 * answered by what the model needs to mend it; only an abort, or `emit`, makes this throw.
 */
export function runToolCalls(
  calls: ToolCall[],
  options: ToolCallOptions,
): Promise<ChatMessage[]> {
  const answers = Promise.all(calls.map((call) => runToolCall(call, options)));
  return untilAbort(answers, options.signal);
}

async function runToolCall(call: ToolCall, options: ToolCallOptions): Promise<ChatMessage> {
  const { id, name } = call;
  const { emit } = options;
  await emit?.({
    type: "tool_call",
    id,
    name,
    args: parseArguments(call.arguments) ?? call.arguments,
  });
  const started = performance.now();
  const { status, content } = await answer(call, options);
  const ms = Math.round(performance.now() - started);
  await emit?.({ type: "tool_result", id, name, content, status, ms });
  return { role: "tool", toolCallId: id, content };
}

async function answer(
  call: ToolCall,
  options: ToolCallOptions,
): Promise<{ status: "ok" | "error"; content: string }> {
  try {
    return { status: "ok", content: await execute(call, options) };
  } catch (error) {
    if (isAbort(error) && options.signal?.aborted) throw error;
    return { status: "error", content: `Error: ${describeFailure(error, { call, options })}` };
  }
}

async function execute(call: ToolCall, options: ToolCallOptions): Promise<string> {
  const { tools, refusals } = options;
  const refusal = refusals?.get(call.id);
  if (refusal) throw new ToolError(refusal);
  const tool = tools.find(call.name);
  if (!tool) throw new ToolError(`there is no tool ${JSON.stringify(call.name)}; ${list(tools)}`);
  const args = parseArguments(call.arguments);
  if (!args) {
    const given = call.arguments.slice(0, 500);
    throw new ToolError(`the arguments must be one JSON object, and these are not: ${given}`);
  }
  const checked = tool.schema.safeParse(args);
  if (!checked.success) {
    throw new ToolError(`the arguments do not fit\n${z.prettifyError(checked.error)}`);
  }
  const run = (signal: AbortSignal) => tool.run(checked.data, { signal });
  const content = await withinTime(run, { name: call.name, ...options });
  if (content.trim() === "") return "(The tool returned nothing.)";
  return cut(content, options.maxCharacters ?? USUAL_LIMITS.maxCharacters);
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
  const kept = content.slice(0, maxCharacters).replace(/[\uD800-\uDBFF]$/, "");
  return `${kept}\n\n(Cut here: the result has ${content.length} characters, and ` +
    `${maxCharacters} is the limit. Ask for less at a time.)`;
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
