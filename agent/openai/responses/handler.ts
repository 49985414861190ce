import type { Capacity } from "../../../shared/http/router/admission.ts";
import { type BodyLimits, checkBody, readJsonValue } from "../../../shared/http/body/body.ts";
import { workSignal } from "../../../shared/http/server/connection.ts";
import type { Handler } from "../../../shared/http/router/router.ts";
import type { CompletionRequest } from "../../schemas/chat_completion.ts";
import { ResponsesRequest } from "../../schemas/responses.ts";
import { requireModel } from "../request.ts";
import { callerOf } from "../../answer/accounting.ts";
import type { CompletionCaller, CompletionSource } from "../source.ts";
import { answerFields, createResponseFrame, toEnd, toResponse } from "./body.ts";
import { createKeptItems } from "./kept_items.ts";
import { addReply, createResponseOutput } from "./output.ts";
import type { OutputItem } from "./output_items.ts";
import { toCompletionRequest } from "./request.ts";
import { streamResponse } from "./stream.ts";

interface ResponseHandlerDeps {
  /** Opens the chat completion that answers. Throws 4xx and 503. */
  open(body: CompletionRequest, request: CompletionCaller): CompletionSource;
  runs: Capacity;
  bodyLimits: BodyLimits;
}

/**
 * `POST /v1/responses`: a chat completion in another shape. Some clients send the items of earlier
 * responses back by their ids alone, so items are kept for some minutes, for the same caller and
 * unless it sends `store: false`. Nothing else is stored.
 */
export function createResponseHandler(
  { open, runs, bodyLimits }: ResponseHandlerDeps,
): Handler {
  const kept = createKeptItems();

  return async (request, context) => {
    const { fields, connection } = context;
    const value = await readJsonValue(request, bodyLimits);
    requireModel(value);
    const body = checkBody(value, ResponsesRequest);
    fields.model = body.model;
    const caller = callerOf(context);
    const completion = toCompletionRequest(body, (id) => kept.find(id, caller));
    const source = open(completion, { headers: request.headers, caller, field: "input" });
    connection.onClose(runs.take());
    const frame = createResponseFrame(body);
    const onOutput = (items: OutputItem[]) => {
      if (body.store !== false) kept.keep(items, caller);
    };
    const sealsReasoning = body.include?.includes("reasoning.encrypted_content") ?? false;
    if (body.stream) {
      const { signal } = request;
      return await streamResponse(source, { signal, context, frame, sealsReasoning, onOutput });
    }
    const outcome = await source.start({ signal: workSignal(request, connection) });
    const { reply, usage, headers } = outcome;
    Object.assign(fields, outcome.fields);
    const end = toEnd(reply);
    const output = createResponseOutput({ sealsReasoning });
    await addReply(output, reply, { ...end, isStreamed: false });
    onOutput(output.toKept());
    const state = { ...end, output: output.items, usage, ...answerFields(reply) };
    return Response.json(toResponse(frame, { model: source.model(), ...state }), { headers });
  };
}
