import { reasoningOf } from "../../../shared/providers/extra_fields.ts";
import { asList } from "../../../shared/fields.ts";
import type { ChatReply } from "../../../shared/providers/provider.ts";
import { toSentFields } from "../../run/sent_fields.ts";
import { sealFields } from "./sealed_fields.ts";
import { randomHex } from "../../../shared/random_hex.ts";

/** One event of a streamed response, without its number. */
export interface ResponseEvent extends Record<string, unknown> {
  type: string;
}

export type SendEvent = (event: ResponseEvent) => void | Promise<void>;

/** An item of a response's output, in OpenAI's shape. */
export interface OutputItem extends Record<string, unknown> {
  id: string;
  type: "message" | "reasoning" | "function_call";
  status?: string;
}

/** A piece of a tool call. The id and the name come with its first piece. */
export interface CallPiece {
  /** Tells the calls of one turn apart. */
  index: number;
  id?: string;
  name?: string;
  arguments: string;
}

/** Collects a run's output as items, and announces each change as OpenAI does. */
export interface ResponseOutput {
  readonly items: OutputItem[];
  addText(text: string, logprobs?: unknown[]): Promise<void>;
  addRefusal(text: string): Promise<void>;
  addReasoning(text: string): Promise<void>;
  addCall(piece: CallPiece): Promise<void>;
  /** Adds what the provider sent with a call beside its name and arguments. */
  addCallFields(index: number, fields: Record<string, unknown>): void;
  /** The call has been announced, at least in part. */
  hasCall(index: number): boolean;
  /** Closes the text that is open: what comes next is an item of its own. */
  endText(): Promise<void>;
  /**
   * Closes everything that is open. `sealed` becomes the `encrypted_content` of the turn's reasoning,
   * or of its first open item if it has none.
   */
  endTurn(options?: { status?: string; sealed?: string | undefined }): Promise<void>;
  /** The items with their `encrypted_content`, also if the caller does not get it. */
  toKept(): OutputItem[];
}

/** An item that is still growing. */
interface OpenItem {
  item: OutputItem;
  output_index: number;
  close(status: string): Promise<void>;
}

interface OpenCall extends OpenItem {
  add(text: string): Promise<void>;
}

interface OpenText extends OpenItem {
  kind: "output_text" | "refusal" | "reasoning";
  add(text: string, logprobs?: unknown[]): Promise<void>;
}

export interface OutputOptions {
  /** If it is unset, the items are only collected. */
  send?: SendEvent;
  /** A reasoning item is done at the end of its turn, when its `encrypted_content` is known. */
  sealsReasoning?: boolean;
}

export function createResponseOutput(
  { send = () => {}, sealsReasoning = false }: OutputOptions = {},
): ResponseOutput {
  const items: OutputItem[] = [];
  const calls = new Map<number, OpenCall>();
  const seals = new Map<OutputItem, string>();
  /** The text that is growing: one at a time, calls beside it. */
  let text: OpenText | undefined;
  /** The reasoning of this turn. */
  let thoughts: Omit<OpenItem, "close"> | undefined;

  async function addItem(item: OutputItem): Promise<number> {
    const output_index = items.push(item) - 1;
    await send({ type: "response.output_item.added", output_index, item: { ...item } });
    return output_index;
  }

  async function finish({ item, output_index }: Omit<OpenItem, "close">, status: string) {
    if (item.type !== "reasoning") item.status = status;
    await send({ type: "response.output_item.done", output_index, item: { ...item } });
  }

  async function openPart(kind: "output_text" | "refusal"): Promise<OpenText> {
    const item: OutputItem = {
      id: newId("msg"),
      type: "message",
      status: "in_progress",
      role: "assistant",
      content: [],
    };
    const output_index = await addItem(item);
    const at = { item_id: item.id, output_index, content_index: 0 };
    const part: Record<string, unknown> = kind === "refusal"
      ? { type: kind, refusal: "" }
      : { type: kind, text: "", annotations: [], logprobs: [] };
    const field = kind === "refusal" ? "refusal" : "text";
    const logprobs: unknown[] = [];
    await send({ type: "response.content_part.added", ...at, part: { ...part } });
    return {
      kind,
      item,
      output_index,
      async add(delta, more = []) {
        part[field] += delta;
        for (const logprob of more) logprobs.push(logprob);
        const event = { type: `response.${kind}.delta`, ...at, delta };
        await send(kind === "refusal" ? event : { ...event, logprobs: more });
      },
      async close(status) {
        if (kind === "output_text") part.logprobs = logprobs;
        item.content = [part];
        const event = { type: `response.${kind}.done`, ...at, [field]: part[field] };
        await send(kind === "refusal" ? event : { ...event, logprobs });
        await send({ type: "response.content_part.done", ...at, part: { ...part } });
        await finish({ item, output_index }, status);
      },
    };
  }

  /** Thoughts are sent as the summary of a reasoning item: it is what clients show. */
  async function openReasoning(): Promise<OpenText> {
    await closeReasoning();
    const item: OutputItem = { id: newId("rs"), type: "reasoning", summary: [] };
    const output_index = await addItem(item);
    const at = { item_id: item.id, output_index, summary_index: 0 };
    const part = { type: "summary_text", text: "" };
    await send({ type: "response.reasoning_summary_part.added", ...at, part: { ...part } });
    thoughts = { item, output_index };
    return {
      kind: "reasoning",
      item,
      output_index,
      async add(delta) {
        part.text += delta;
        await send({ type: "response.reasoning_summary_text.delta", ...at, delta });
      },
      async close(status) {
        item.summary = [part];
        await send({ type: "response.reasoning_summary_text.done", ...at, text: part.text });
        await send({ type: "response.reasoning_summary_part.done", ...at, part: { ...part } });
        if (!sealsReasoning) await finish({ item, output_index }, status);
      },
    };
  }

  async function openCall({ id, name = "" }: CallPiece): Promise<OpenCall> {
    const item = {
      id: newId("fc"),
      type: "function_call" as const,
      status: "in_progress",
      call_id: id ?? newId("call"),
      name,
      arguments: "",
    };
    const output_index = await addItem(item);
    const at = { item_id: item.id, output_index };
    return {
      item,
      output_index,
      async add(delta) {
        item.arguments += delta;
        await send({ type: "response.function_call_arguments.delta", ...at, delta });
      },
      async close(status) {
        const { arguments: whole } = item;
        await send({
          type: "response.function_call_arguments.done",
          ...at,
          name,
          arguments: whole,
        });
        await finish({ item, output_index }, status);
      },
    };
  }

  async function closeText(status?: string): Promise<void> {
    const open = text;
    text = undefined;
    await open?.close(status ?? "completed");
  }

  async function closeReasoning(): Promise<void> {
    const open = thoughts;
    thoughts = undefined;
    if (!open || !sealsReasoning) return;
    open.item.encrypted_content = seals.get(open.item) ?? null;
    await finish(open, "completed");
  }

  function seal(sealed: string): void {
    const [firstCall] = calls.values();
    const { item } = thoughts ?? text ?? firstCall ?? {};
    if (!item) return;
    seals.set(item, sealed);
    if (sealsReasoning) item.encrypted_content = sealed;
  }

  async function textOf(kind: OpenText["kind"]): Promise<OpenText> {
    if (text?.kind === kind) return text;
    await closeText();
    return text = await (kind === "reasoning" ? openReasoning() : openPart(kind));
  }

  return {
    items,
    addText: async (added, logprobs) => await (await textOf("output_text")).add(added, logprobs),
    addRefusal: async (added) => await (await textOf("refusal")).add(added),
    addReasoning: async (added) => await (await textOf("reasoning")).add(added),
    hasCall: (index) => calls.has(index),
    async addCall(piece) {
      await closeText();
      const call = calls.get(piece.index) ?? await openCall(piece);
      calls.set(piece.index, call);
      if (piece.arguments) await call.add(piece.arguments);
    },
    addCallFields(index, fields) {
      const { item } = calls.get(index)!;
      Object.assign(item, { ...fields, ...item });
    },
    endText: closeText,
    async endTurn({ status = "completed", sealed } = {}) {
      if (sealed) seal(sealed);
      await closeText(status);
      await closeReasoning();
      for (const call of calls.values()) await call.close(status);
      calls.clear();
    },
    toKept: () =>
      items.map((item) => {
        const encrypted_content = seals.get(item);
        return encrypted_content ? { ...item, encrypted_content } : item;
      }),
  };
}

/**
 * Adds what a reply has beyond what was announced of it, and ends its turn. The text and the thoughts
 * of a streamed reply have been announced. A reply with nothing in it is an empty message.
 */
export async function addReply(
  output: ResponseOutput,
  reply: ChatReply,
  { status, isStreamed }: { status: string; isStreamed: boolean },
): Promise<void> {
  if (!isStreamed) {
    const thoughts = reasoningOf(reply);
    if (thoughts) await output.addReasoning(thoughts);
    if (reply.content) await output.addText(reply.content, tokensOf(reply.logprobs));
  }
  if (reply.refusal) await output.addRefusal(reply.refusal);
  for (const [index, call] of reply.toolCalls.entries()) {
    if (!output.hasCall(index)) await output.addCall({ index, ...call });
    if (call.extra) output.addCallFields(index, { ...call.extra, from_model: reply.from });
  }
  if (output.items.length === 0) await output.addText("");
  const sent = toSentFields(reply);
  const hasSent = Object.keys(sent).length > 0;
  await output.endTurn({ status, sealed: hasSent ? sealFields(sent) : undefined });
}

/** The tokens of log probabilities, which a chat completion has in `content`. */
export function tokensOf(logprobs: Record<string, unknown> | null | undefined): unknown[] {
  return asList(logprobs?.content);
}

function newId(prefix: string): string {
  return `${prefix}_${randomHex()}`;
}
