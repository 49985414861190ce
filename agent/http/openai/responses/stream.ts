import {
  type Outlet,
  type Push,
  streamEvents,
  type StreamOptions,
} from "../../answer/event_stream.ts";
import { toOpenAIError } from "../error_shape.ts";
import type { CompletionSource } from "../completion_source.ts";
import { answerFields, type ResponseFrame, type ResponseState, toEnd, toResponse } from "./body.ts";
import { addReply, createResponseOutput, tokensOf } from "./output.ts";
import type { OutputItem, ResponseEvent } from "./output_items.ts";

interface StreamedResponseOptions extends StreamOptions {
  frame: ResponseFrame;
  /** The caller asked for `encrypted_content`, with which it can send reasoning back. */
  sealsReasoning: boolean;
  /** Gets the output of a response that has ended well; see `toKept`. */
  onOutput(items: OutputItem[]): void;
}

/**
 * Answers with the events of a response. A failure before the stream opens is thrown, so that it sets
 * the status. A later one is an `error` event, at which OpenAI's clients throw, then `response.failed`.
 */
export async function streamResponse(
  source: CompletionSource,
  options: StreamedResponseOptions,
): Promise<Response> {
  const { context, frame, sealsReasoning } = options;
  let count = 0;
  let hasStarted = false;
  const stateOf = (state: Partial<ResponseState>) =>
    toResponse(frame, { model: source.model(), status: "in_progress", output: [], ...state });

  function sendWith(push: Push) {
    return ({ type, ...fields }: ResponseEvent): Promise<void> => {
      const data = { type, sequence_number: count++, ...fields };
      return push({ event: type, data: JSON.stringify(data) });
    };
  }

  async function produce({ push, signal }: Outlet): Promise<void> {
    const send = sendWith(push);
    /** Announces the response with its first event: a failure before it sets the status. */
    async function begin(): Promise<void> {
      if (hasStarted) return;
      hasStarted = true;
      await send({ type: "response.created", response: stateOf({}) });
      await send({ type: "response.in_progress", response: stateOf({}) });
    }
    const output = createResponseOutput({
      sealsReasoning,
      async send(event) {
        await begin();
        await send(event);
      },
    });
    const outcome = await source.start({
      signal,
      async emit(event) {
        if (event.type === "token") await output.addText(event.text, tokensOf(event.logprobs));
        else if (event.type === "call") await output.addCall(event);
        else if (event.type === "reasoning") await output.addReasoning(event.text);
        // Text before and after the agent's own tool calls are two messages.
        else await output.endText();
      },
    });
    Object.assign(context.fields, { model: source.model(), ...outcome.fields });
    const { reply, usage, account } = outcome;
    const end = toEnd(reply);
    await addReply(output, reply, { ...end, isStreamed: true });
    options.onOutput(output.toKept());
    const response = stateOf({
      ...end,
      output: output.items,
      usage,
      ...answerFields(reply),
    });
    await send({
      type: `response.${end.status}`,
      response: { ...response, ...(account && { agent: account }) },
    });
  }

  async function sendError(push: Push, thrown: unknown): Promise<void> {
    const { error } = toOpenAIError(thrown, context.requestId);
    const { code, message, param } = error;
    const send = sendWith(push);
    await send({ type: "error", code, message, param });
    const response = stateOf({ status: "failed", error: { code, message } });
    await send({ type: "response.failed", response });
  }

  return await streamEvents({ ...options, produce, sendError, headers: source.headers });
}
