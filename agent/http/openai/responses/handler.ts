import { type BodyLimits, checkBody, readJsonValue } from "../../../../shared/http/body.ts";
import { type Capacity, workSignal } from "../../../../shared/http/connection.ts";
import type { Handler } from "../../../../shared/http/router.ts";
import { CompletionRequest } from "../../schemas/chat_completion.ts";
import { ResponsesRequest } from "../../schemas/responses.ts";
import { type CompletionCaller, type OpenedCompletion, requireModel } from "../request.ts";
import { accountFields, accountHeaders, callerOf, streamRun } from "../../answer/run_request.ts";
import { lastReply, runUsage, withoutAsides } from "../completion.ts";
import {
  answerFields,
  createResponseEncoder,
  createResponseFrame,
  toEnd,
  toResponse,
} from "./response.ts";
import { createKeptItems, type FindItem, toMessages } from "./input.ts";
import { addReply, createResponseOutput, type OutputItem } from "./output.ts";
import { invalidField, unsupportedField } from "../../../../shared/service/errors.ts";
import { listFieldErrors } from "../../../../shared/service/field_errors.ts";
import { filterFields } from "../../../../shared/service/fields.ts";

/**
 * `POST /v1/responses`: a chat completion in another shape. Some clients send the items of earlier
 * responses back by their ids alone, so items are kept for some minutes, for the same caller and
 * unless it sends `store: false`. Nothing else is stored.
 */
export function createResponseHandler(
  { open, runs, bodyLimits }: {
    /** Opens the chat completion that answers. Throws 4xx and 503. */
    open(body: CompletionRequest, request: CompletionCaller): OpenedCompletion;
    runs: Capacity;
    bodyLimits: BodyLimits;
  },
): Handler {
  const kept = createKeptItems();

  return async (request, context) => {
    const { fields, connection, requestId } = context;
    const value = await readJsonValue(request, bodyLimits);
    requireModel(value);
    const body = checkBody(value, ResponsesRequest);
    fields.model = body.model;
    const caller = callerOf(context);
    const completion = toCompletionRequest(body, (id) => kept.find(id, caller));
    const { headers } = request;
    const { run, isJson } = open(completion, { headers, caller, field: "input" });
    connection.onClose(runs.take());
    const frame = createResponseFrame(body);
    const onOutput = (items: OutputItem[]) => {
      if (body.store !== false) kept.keep(items, caller);
    };
    const sealsReasoning = body.include?.includes("reasoning.encrypted_content") ?? false;
    if (body.stream) {
      const { model } = run;
      const encoder = createResponseEncoder({ frame, model, requestId, sealsReasoning, onOutput });
      const { signal } = request;
      return await streamRun(run, isJson ? withoutAsides(encoder) : encoder, { signal, context });
    }
    const report = await run.start({ signal: workSignal(request, connection) });
    Object.assign(fields, accountFields(report));
    const reply = lastReply(report);
    const end = toEnd(reply);
    const output = createResponseOutput({ sealsReasoning });
    addReply(output, reply, { ...end, isStreamed: false });
    onOutput(output.toKept());
    const { model } = report;
    const usage = runUsage(report);
    const state = { model, ...end, output: output.items, usage, ...answerFields(reply) };
    return Response.json(toResponse(frame, state), {
      headers: accountHeaders({ report, repairs: run.repairs }),
    });
  };
}

/** Fields with a meaning of their own here. The provider gets all others as they are. */
const OWN = new Set([
  "input",
  "instructions",
  "max_output_tokens",
  "tools",
  "tool_choice",
  "text",
  "reasoning",
  "include",
  "store",
  "metadata",
  "truncation",
  "max_tool_calls",
  "stream_options",
  "previous_response_id",
  "conversation",
  "prompt",
  "background",
]);

/** Fields that need stored responses, which this service does not have, and what to do instead. */
const REFUSED = {
  previous_response_id: "responses are not stored; send the whole conversation as input",
  conversation: "conversations are not stored; send the whole conversation as input",
  prompt: "prompts are not stored; send instructions and input",
  background: "a response is answered while the caller waits; leave it out, or send stream",
};

/** The chat completion that answers a request for a response. Throws 400 for what it cannot do. */
function toCompletionRequest(body: ResponsesRequest, findItem: FindItem): CompletionRequest {
  for (const [name, reason] of Object.entries(REFUSED)) {
    if (body[name]) throw unsupportedField(name, reason);
  }
  const { input, instructions, max_output_tokens, text, reasoning, tools, tool_choice } = body;
  const wantsLogprobs = body.top_logprobs || body.include?.includes("message.output_text.logprobs");
  const messages = typeof input === "string"
    ? [{ role: "user", content: input }]
    : toMessages(input, findItem);
  const result = CompletionRequest.safeParse({
    ...filterFields(body, (_, name) => !OWN.has(name)),
    messages: [...(instructions ? [{ role: "system", content: instructions }] : []), ...messages],
    max_tokens: max_output_tokens,
    response_format: toResponseFormat(text?.format),
    verbosity: text?.verbosity,
    reasoning_effort: reasoning?.effort,
    logprobs: wantsLogprobs ? true : undefined,
    tools: tools?.length ? tools.map(toTool) : undefined,
    tool_choice: tool_choice ? toToolChoice(tool_choice) : undefined,
  });
  if (result.success) return result.data;
  const message = listFieldErrors(result.error)[0]?.message ?? "it is not supported";
  throw invalidField("input", message);
}

function toResponseFormat(format: NonNullable<ResponsesRequest["text"]>["format"]) {
  if (!format || format.type === "text") return undefined;
  if (format.type === "json_object") return { type: format.type };
  const { type, ...schema } = format;
  return { type, json_schema: schema };
}

type Tool = NonNullable<ResponsesRequest["tools"]>[number];

function toTool(tool: Tool, index: number) {
  const { type, ...definition } = tool;
  if (type === "function") {
    return { type, function: filterFields(definition, (value) => value !== null) };
  }
  throw unsupportedField(
    `tools.${index}.type`,
    `the tool type ${JSON.stringify(type)} is not supported, only functions are; the agent has ` +
      "tools of its own, see GET /tools",
  );
}

function toToolChoice(choice: NonNullable<ResponsesRequest["tool_choice"]>): unknown {
  if (typeof choice === "string") return choice;
  const { type, ...fields } = choice;
  if (type === "function") return { type, function: fields };
  if (type === "allowed_tools") {
    const { mode, tools } = fields;
    const named = Array.isArray(tools) ? tools.map(toTool) : tools;
    return { type, allowed_tools: { mode, tools: named } };
  }
  throw unsupportedField("tool_choice", `the choice ${JSON.stringify(type)} is not supported`);
}
