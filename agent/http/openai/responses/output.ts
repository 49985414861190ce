import { reasoningOf } from "../../../../shared/providers/content.ts";
import { asList, asText, type Fields, parseFields } from "../../../../shared/service/fields.ts";
import type { CallPiece, ChatReply } from "../../../../shared/providers/provider.ts";
import { toSentFields } from "../../../core/run/caller_messages.ts";
import { randomHex } from "../../../../shared/service/text.ts";

type TextKind = "output_text" | "refusal" | "reasoning";

type ResponseOutput = ReturnType<typeof createResponseOutput>;

/** Collects a run's output as items, and announces each change as OpenAI does. */
export function createResponseOutput(
  { send = () => {}, sealsReasoning = false }: {
    /** If it is unset, the items are only collected. */
    send?: ItemSink["send"];
    /** A reasoning item is done at the end of its turn, when its `encrypted_content` is known. */
    sealsReasoning?: boolean;
  } = {},
) {
  const items: OutputItem[] = [];
  const calls = new Map<number, OpenItem>();
  const seals = new Map<OutputItem, string>();
  /** The open text item. There is one at a time, while several calls may be open. */
  let text: OpenItem & { kind: TextKind } | undefined;
  /** The reasoning of this turn. */
  let thoughts: PlacedItem | undefined;
  const sink: ItemSink = {
    send,
    add(item) {
      const output_index = items.push(item) - 1;
      send({ type: "response.output_item.added", output_index, item: { ...item } });
      return output_index;
    },
    finish({ item, output_index }, status) {
      if (item.type !== "reasoning") item.status = status;
      send({ type: "response.output_item.done", output_index, item: { ...item } });
    },
  };

  function closeText(status?: string): void {
    const open = text;
    text = undefined;
    open?.close(status ?? "completed");
  }

  function closeReasoning(): void {
    const open = thoughts;
    thoughts = undefined;
    if (!open || !sealsReasoning) return;
    open.item.encrypted_content = seals.get(open.item) ?? null;
    sink.finish(open, "completed");
  }

  function think(): OpenItem {
    closeReasoning();
    const open = openReasoning(sink, { isSealed: sealsReasoning });
    thoughts = open;
    return open;
  }

  function seal(sealed: string): void {
    const [firstCall] = calls.values();
    const { item } = thoughts ?? text ?? firstCall ?? {};
    if (!item) return;
    seals.set(item, sealed);
    if (sealsReasoning) item.encrypted_content = sealed;
  }

  function addTo(kind: TextKind, added: string, logprobs?: unknown[]): void {
    if (text?.kind !== kind) {
      closeText();
      const open = kind === "reasoning" ? think() : openMessage(kind, sink);
      text = { ...open, kind };
    }
    text.add(added, logprobs);
  }

  return {
    items,
    addText: (added: string, logprobs?: unknown[]) => addTo("output_text", added, logprobs),
    addRefusal: (added: string) => addTo("refusal", added),
    addReasoning: (added: string) => addTo("reasoning", added),
    /** The call has been announced, at least in part. */
    hasCall: (index: number) => calls.has(index),
    addCall(piece: Omit<CallPiece, "type">): void {
      closeText();
      const call = calls.get(piece.index) ?? openCall(piece, sink);
      calls.set(piece.index, call);
      if (piece.arguments) call.add(piece.arguments);
    },
    /** Adds further fields of a call that the provider sent. */
    addCallFields(index: number, fields: Fields): void {
      const { item } = calls.get(index)!;
      Object.assign(item, { ...fields, ...item });
    },
    /** What its provider calls the part that a message has in the answer. */
    setPhase(phase: string): void {
      const message = items.findLast(({ type }) => type === "message");
      if (message) message.phase = phase;
    },
    /** Closes the open text: what follows is an item of its own. */
    endText: () => closeText(),
    /**
     * Closes everything that is open. `sealed` becomes the `encrypted_content` of the turn's
     * reasoning, or of its first open item if it has none.
     */
    endTurn(
      { status = "completed", sealed }: { status?: string; sealed?: string | undefined } = {},
    ): void {
      if (sealed) seal(sealed);
      closeText(status);
      closeReasoning();
      for (const call of calls.values()) call.close(status);
      calls.clear();
    },
    /** The items with their `encrypted_content`, also if the caller does not get it. */
    toKept: () =>
      items.map((item) => {
        const encrypted_content = seals.get(item);
        return encrypted_content ? { ...item, encrypted_content } : item;
      }),
  };
}

/**
 * Adds the parts of a reply that were not announced yet, and ends its turn. Of a streamed reply the
 * text and the reasoning were announced. An empty reply becomes an empty message.
 */
export function addReply(
  output: ResponseOutput,
  reply: ChatReply,
  { status, isStreamed }: { status: string; isStreamed: boolean },
): void {
  if (!isStreamed) {
    const thoughts = reasoningOf(reply);
    if (thoughts) output.addReasoning(thoughts);
    if (reply.content) output.addText(reply.content, tokensOf(reply.logprobs));
  }
  if (reply.refusal) output.addRefusal(reply.refusal);
  const phase = asText(reply.extra?.phase);
  if (phase) output.setPhase(phase);
  for (const [index, call] of reply.toolCalls.entries()) {
    if (!output.hasCall(index)) output.addCall({ index, ...call });
    if (call.extra) output.addCallFields(index, { ...call.extra, from_model: reply.from });
  }
  if (output.items.length === 0) output.addText("");
  const sent = toSentFields(reply);
  const hasSent = Object.keys(sent).length > 0;
  output.endTurn({ status, sealed: hasSent ? sealFields(sent) : undefined });
}

/** The tokens of log probabilities, which a chat completion has in `content`. */
export function tokensOf(logprobs: Record<string, unknown> | null | undefined): unknown[] {
  return asList(logprobs?.content);
}

const PREFIX = "assay.";

/**
 * Further fields of a model's message, packed into the `encrypted_content` of its reasoning item, or
 * of another item of its turn: clients keep that text and send it back. It holds nothing that the
 * caller may not read.
 */
function sealFields(fields: Fields): string {
  const bytes = new TextEncoder().encode(JSON.stringify(fields));
  return PREFIX + bytes.toBase64();
}

/** `undefined` if there are none, or if another service sealed them. */
export function unsealFields({ encrypted_content }: Fields): Fields | undefined {
  const sealed = asText(encrypted_content);
  if (!sealed?.startsWith(PREFIX)) return undefined;
  try {
    const bytes = Uint8Array.fromBase64(sealed.slice(PREFIX.length));
    return parseFields(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

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
interface ItemSink {
  /** Adds an item, and returns its place in the output. */
  add(item: OutputItem): number;
  send(event: ResponseEvent): void;
  finish(placed: PlacedItem, status: string): void;
}

/** An item and its place in the output. */
interface PlacedItem {
  item: OutputItem;
  output_index: number;
}

/** An item that is still growing. */
interface OpenItem extends PlacedItem {
  add(text: string, logprobs?: unknown[]): void;
  close(status: string): void;
}

/** Opens a message of one part. */
function openMessage(
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
function openReasoning(
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
function openCall(
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
