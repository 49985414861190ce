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
  add(item: OutputItem): Promise<number>;
  send(event: ResponseEvent): void | Promise<void>;
  finish(placed: PlacedItem, status: string): Promise<void>;
}

/** An item and its place in the output. */
export interface PlacedItem {
  item: OutputItem;
  output_index: number;
}

/** An item that is still growing. */
export interface OpenItem extends PlacedItem {
  add(text: string, logprobs?: unknown[]): Promise<void>;
  close(status: string): Promise<void>;
}

/** Opens a message of one part. */
export async function openMessage(
  kind: "output_text" | "refusal",
  sink: ItemSink,
): Promise<OpenItem> {
  const item: OutputItem = {
    id: newId("msg"),
    type: "message",
    status: "in_progress",
    role: "assistant",
    content: [],
  };
  const output_index = await sink.add(item);
  const at = { item_id: item.id, output_index, content_index: 0 };
  const part: Record<string, unknown> = kind === "refusal"
    ? { type: kind, refusal: "" }
    : { type: kind, text: "", annotations: [], logprobs: [] };
  const field = kind === "refusal" ? "refusal" : "text";
  const logprobs: unknown[] = [];
  await sink.send({ type: "response.content_part.added", ...at, part: { ...part } });
  return {
    item,
    output_index,
    async add(delta, more = []) {
      part[field] += delta;
      for (const logprob of more) logprobs.push(logprob);
      const event = { type: `response.${kind}.delta`, ...at, delta };
      await sink.send(kind === "refusal" ? event : { ...event, logprobs: more });
    },
    async close(status) {
      if (kind === "output_text") part.logprobs = logprobs;
      item.content = [part];
      const event = { type: `response.${kind}.done`, ...at, [field]: part[field] };
      await sink.send(kind === "refusal" ? event : { ...event, logprobs });
      await sink.send({ type: "response.content_part.done", ...at, part: { ...part } });
      await sink.finish({ item, output_index }, status);
    },
  };
}

/**
 * Opens a reasoning item. Thoughts are sent as its summary, which is what clients show. Closing an
 * item that will be sealed does not finish it.
 */
export async function openReasoning(
  sink: ItemSink,
  { isSealed }: { isSealed: boolean },
): Promise<OpenItem> {
  const item: OutputItem = { id: newId("rs"), type: "reasoning", summary: [] };
  const output_index = await sink.add(item);
  const at = { item_id: item.id, output_index, summary_index: 0 };
  const part = { type: "summary_text", text: "" };
  await sink.send({ type: "response.reasoning_summary_part.added", ...at, part: { ...part } });
  return {
    item,
    output_index,
    async add(delta) {
      part.text += delta;
      await sink.send({ type: "response.reasoning_summary_text.delta", ...at, delta });
    },
    async close(status) {
      item.summary = [part];
      await sink.send({ type: "response.reasoning_summary_text.done", ...at, text: part.text });
      await sink.send({ type: "response.reasoning_summary_part.done", ...at, part: { ...part } });
      if (!isSealed) await sink.finish({ item, output_index }, status);
    },
  };
}

/** Opens a tool call. */
export async function openCall(
  { id, name = "" }: { id?: string; name?: string },
  sink: ItemSink,
): Promise<OpenItem> {
  const item = {
    id: newId("fc"),
    type: "function_call" as const,
    status: "in_progress",
    call_id: id ?? newId("call"),
    name,
    arguments: "",
  };
  const output_index = await sink.add(item);
  const at = { item_id: item.id, output_index };
  return {
    item,
    output_index,
    async add(delta) {
      item.arguments += delta;
      await sink.send({ type: "response.function_call_arguments.delta", ...at, delta });
    },
    async close(status) {
      const { arguments: whole } = item;
      await sink.send({
        type: "response.function_call_arguments.done",
        ...at,
        name,
        arguments: whole,
      });
      await sink.finish({ item, output_index }, status);
    },
  };
}

function newId(prefix: string): string {
  return `${prefix}_${randomHex()}`;
}
