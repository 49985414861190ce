import { AppError } from "../../../shared/errors.ts";
import type { Capacity } from "../../../shared/http/admission.ts";
import { readJson } from "../../../shared/http/body.ts";
import type { BodyLimits } from "../../../shared/http/body_text.ts";
import { workSignal } from "../../../shared/http/connection.ts";
import type { Handler } from "../../../shared/http/router.ts";
import type { CompletionRequest } from "../../../shared/schemas/chat_completion.ts";
import { InputItem, ResponsesRequest } from "../../../shared/schemas/responses.ts";
import { createRecent } from "../recent.ts";
import { callerOf, type CompletionCaller, type CompletionSource } from "../source.ts";
import type { FindItem } from "./input.ts";
import { createResponseFrame, toEnd, toResponse } from "./body.ts";
import { addReply, createResponseOutput, type OutputItem } from "./output.ts";
import { toCompletionRequest } from "./request.ts";
import { streamResponse } from "./stream.ts";

/** How long a caller may name an item of an earlier response by its id. */
const KEPT_MINUTES = 10;
const KEPT_CHARACTERS = 16_000_000;

export interface ResponseHandlerDeps {
  /** Opens the chat completion that answers. Throws 4xx and 503. */
  open(body: CompletionRequest, request: CompletionCaller): CompletionSource;
  runs: Capacity;
  bodyLimits: BodyLimits;
}

interface ItemOwner {
  body: ResponsesRequest;
  caller: string;
}

/**
 * `POST /v1/responses`: a chat completion in another shape. Some clients send the items of earlier
 * responses back by their ids alone, so items are kept for some minutes, for the same caller and
 * unless it sends `store: false`. Nothing else is stored.
 */
export function createResponseHandler(
  { open, runs, bodyLimits }: ResponseHandlerDeps,
): Handler {
  const recent = createRecent<OutputItem>({
    maxAgeMs: KEPT_MINUTES * 60_000,
    maxCharacters: KEPT_CHARACTERS,
  });

  function findItem(id: string, { path, caller }: { path: string; caller: string }): InputItem {
    const item = recent.find(id, caller);
    if (item) return InputItem.parse(item);
    const message =
      `the item ${JSON.stringify(id.slice(0, 100))} is not known: items are kept for ` +
      `${KEPT_MINUTES} minutes; send the item itself (most clients do so with store: false)`;
    throw new AppError(400, "invalid_request", `cannot use ${path}: ${message}`, {
      errors: [{ path, message }],
    });
  }

  function keepItems(items: OutputItem[], { body, caller }: ItemOwner): void {
    if (body.store === false) return;
    for (const item of items) recent.keep(item, { caller, keys: [item.id] });
  }

  return async (request, context) => {
    const { fields, connection } = context;
    const body = await readJson(request, ResponsesRequest, bodyLimits);
    fields.model = body.model;
    const caller = callerOf(context);
    const find: FindItem = (id, path) => findItem(id, { path, caller });
    const { headers: sent } = request;
    const source = open(toCompletionRequest(body, find), { headers: sent, caller });
    connection.onClose(runs.take());
    const frame = createResponseFrame(body);
    const sealsReasoning = body.include?.includes("reasoning.encrypted_content") ?? false;
    if (body.stream) {
      const { signal } = request;
      const onOutput = (items: OutputItem[]) => keepItems(items, { body, caller });
      return await streamResponse(source, { signal, context, frame, sealsReasoning, onOutput });
    }
    const outcome = await source.start({ signal: workSignal(request, connection) });
    const { reply, usage, headers } = outcome;
    Object.assign(fields, outcome.fields);
    const end = toEnd(reply);
    const output = createResponseOutput({ sealsReasoning });
    await addReply(output, reply, { ...end, isStreamed: false });
    keepItems(output.toKept(), { body, caller });
    const state = { ...end, output: output.items, usage, serviceTier: reply.serviceTier };
    return Response.json(toResponse(frame, { model: source.model, ...state }), { headers });
  };
}
