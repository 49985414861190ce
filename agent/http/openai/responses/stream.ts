import type { RunEncoder } from "../../answer/run_request.ts";
import { toAccount } from "../../answer/run_request.ts";
import type { OutgoingEvent } from "../../answer/event_stream.ts";
import { lastReply, runUsage } from "../completion.ts";
import { toOpenAIError } from "../error_shape.ts";
import { answerFields, type ResponseFrame, type ResponseState, toEnd, toResponse } from "./body.ts";
import { addReply, createResponseOutput, tokensOf } from "./output.ts";
import type { OutputItem, ResponseEvent } from "./output_items.ts";

interface ResponseEncoding {
  frame: ResponseFrame;
  /** The model that answered, or that is being asked now. */
  model: () => string;
  requestId: string;
  /** The caller asked for `encrypted_content`, with which it can send reasoning back. */
  sealsReasoning: boolean;
  /** Gets the output of a response that has ended well; see `toKept`. */
  onOutput(items: OutputItem[]): void;
}

/**
 * Writes a run as the events of a response. A failure is an `error` event, at which OpenAI's clients
 * throw, then `response.failed`.
 */
export function createResponseEncoder(
  { frame, model, requestId, sealsReasoning, onOutput }: ResponseEncoding,
): RunEncoder {
  let count = 0;
  let events: OutgoingEvent[] = [];
  const stateOf = (state: Partial<ResponseState>) =>
    toResponse(frame, { model: model(), status: "in_progress", output: [], ...state });

  function send({ type, ...fields }: ResponseEvent): void {
    const data = { type, sequence_number: count++, ...fields };
    events.push({ event: type, data: JSON.stringify(data) });
  }

  /** Announces the response with its first event: a failure before it sets the status. */
  function begin(): void {
    if (count > 0) return;
    send({ type: "response.created", response: stateOf({}) });
    send({ type: "response.in_progress", response: stateOf({}) });
  }

  function take(): OutgoingEvent[] {
    const taken = events;
    events = [];
    return taken;
  }

  const output = createResponseOutput({
    sealsReasoning,
    send(event) {
      begin();
      send(event);
    },
  });
  return {
    event(event) {
      if (event.type === "token") output.addText(event.text, tokensOf(event.logprobs));
      else if (event.type === "call") output.addCall(event);
      else if (event.type === "reasoning") output.addReasoning(event.text);
      // Text before and after the agent's own tool calls are two messages.
      else output.endText();
      return take();
    },
    finish(ended) {
      const reply = lastReply(ended.report);
      const end = toEnd(reply);
      addReply(output, reply, { ...end, isStreamed: true });
      onOutput(output.toKept());
      const usage = runUsage(ended.report);
      const state = { ...end, output: output.items, usage, ...answerFields(reply) };
      const response = { ...stateOf(state), agent: toAccount(ended) };
      send({ type: `response.${end.status}`, response });
      return take();
    },
    fail(thrown) {
      const { code, message, param } = toOpenAIError(thrown, requestId).error;
      send({ type: "error", code, message, param });
      send({
        type: "response.failed",
        response: stateOf({ status: "failed", error: { code, message } }),
      });
      return take();
    },
  };
}
