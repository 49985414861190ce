import { randomHex } from "../../../../shared/service/text.ts";

/** One event of a streamed response, without its number. */
export interface ResponseEvent extends Record<string, unknown> {
  type: string;
}

/** An item of a response's output, in OpenAI's shape. */
export interface OutputItem extends Record<string, unknown> {
  id: string;
  type: "message" | "reasoning" | "function_call";
  status?: string;
}

/** Receives items and the events about them. */
export interface ItemSink {
  /** Adds an item, and returns its place in the output. */
  add(item: OutputItem): number;
  send(event: ResponseEvent): void;
  finish(placed: PlacedItem, status: string): void;
}

/** An item and its place in the output. */
export interface PlacedItem {
  item: OutputItem;
  output_index: number;
}

/** An item that is still growing. */
export interface OpenItem extends PlacedItem {
  add(text: string, logprobs?: unknown[]): void;
  close(status: string): void;
}

/** Opens a message of one part. */
export function openMessage(
  kind: "output_text" | "refusal",
  sink: ItemSink,
): OpenItem {
  const item: OutputItem = {
    id: newId("msg"),
    type: "message",
    status: "in_progress",
    role: "assistant",
    content: [],
  };
  const output_index = sink.add(item);
  const at = { item_id: item.id, output_index, content_index: 0 };
  const part: Record<string, unknown> = kind === "refusal"
    ? { type: kind, refusal: "" }
    : { type: kind, text: "", annotations: [], logprobs: [] };
  const field = kind === "refusal" ? "refusal" : "text";
  const logprobs: unknown[] = [];
  sink.send({ type: "response.content_part.added", ...at, part: { ...part } });
  return {
    item,
    output_index,
    add(delta, more = []) {
      part[field] += delta;
      for (const logprob of more) logprobs.push(logprob);
      const event = { type: `response.${kind}.delta`, ...at, delta };
      sink.send(kind === "refusal" ? event : { ...event, logprobs: more });
    },
    close(status) {
      if (kind === "output_text") part.logprobs = logprobs;
      item.content = [part];
      const event = { type: `response.${kind}.done`, ...at, [field]: part[field] };
      sink.send(kind === "refusal" ? event : { ...event, logprobs });
      sink.send({ type: "response.content_part.done", ...at, part: { ...part } });
      sink.finish({ item, output_index }, status);
    },
  };
}

/**
 * Opens a reasoning item. Thoughts are sent as its summary, which is what clients show. Closing an
 * item that will be sealed does not finish it.
 */
export function openReasoning(
  sink: ItemSink,
  { isSealed }: { isSealed: boolean },
): OpenItem {
  const item: OutputItem = { id: newId("rs"), type: "reasoning", summary: [] };
  const output_index = sink.add(item);
  const at = { item_id: item.id, output_index, summary_index: 0 };
  const part = { type: "summary_text", text: "" };
  sink.send({ type: "response.reasoning_summary_part.added", ...at, part: { ...part } });
  return {
    item,
    output_index,
    add(delta) {
      part.text += delta;
      sink.send({ type: "response.reasoning_summary_text.delta", ...at, delta });
    },
    close(status) {
      item.summary = [part];
      sink.send({ type: "response.reasoning_summary_text.done", ...at, text: part.text });
      sink.send({ type: "response.reasoning_summary_part.done", ...at, part: { ...part } });
      if (!isSealed) sink.finish({ item, output_index }, status);
    },
  };
}

/** Opens a tool call. */
export function openCall(
  { id, name = "" }: { id?: string; name?: string },
  sink: ItemSink,
): OpenItem {
  const item = {
    id: newId("fc"),
    type: "function_call" as const,
    status: "in_progress",
    call_id: id ?? newId("call"),
    name,
    arguments: "",
  };
  const output_index = sink.add(item);
  const at = { item_id: item.id, output_index };
  return {
    item,
    output_index,
    add(delta) {
      item.arguments += delta;
      sink.send({ type: "response.function_call_arguments.delta", ...at, delta });
    },
    close(status) {
      const { arguments: whole } = item;
      const type = "response.function_call_arguments.done";
      sink.send({ type, ...at, name, arguments: whole });
      sink.finish({ item, output_index }, status);
    },
  };
}

function newId(prefix: string): string {
  return `${prefix}_${randomHex()}`;
}
