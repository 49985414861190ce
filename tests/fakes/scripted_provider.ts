import type {
  CallOptions,
  ChatDelta,
  ChatProvider,
  ChatReply,
  ChatRequest,
} from "../../shared/providers/provider.ts";

/** One answer of the script: a reply's fields, an error to throw, or a function to decide. */
export type Step =
  | Partial<ChatReply>
  | Error
  | ((request: ChatRequest, options: CallOptions) => Promise<Partial<ChatReply>>);

export interface ScriptedProvider extends ChatProvider {
  /** What was asked, in order, as it was at that moment. */
  readonly requests: ChatRequest[];
}

/** A whole reply, as a plain provider would send it. */
export function chatReply(fields: Partial<ChatReply> = {}): ChatReply {
  return {
    id: "cmpl-1",
    model: "test/model",
    content: "Hello.",
    refusal: null,
    toolCalls: [],
    finishReason: fields.toolCalls?.length ? "tool_calls" : "stop",
    usage: null,
    systemFingerprint: null,
    serviceTier: null,
    logprobs: null,
    ...fields,
  };
}

/**
 * Answers with one step after the other, then repeats the last one. Streams word by word, a
 * call in two pieces.
 */
export function createScriptedProvider(...steps: Step[]): ScriptedProvider {
  const requests: ChatRequest[] = [];

  async function complete(request: ChatRequest, options: CallOptions = {}): Promise<ChatReply> {
    const step = steps[Math.min(requests.length, steps.length - 1)] ?? {};
    const { asStrict: _, onRepair: __, ...data } = request;
    requests.push(structuredClone(data));
    if (step instanceof Error) throw step;
    return chatReply(typeof step === "function" ? await step(request, options) : step);
  }

  async function* stream(
    request: ChatRequest,
    options: CallOptions = {},
  ): AsyncGenerator<ChatDelta> {
    const reply = await complete(request, options);
    for (const text of (reply.content ?? "").match(/\S+\s*/g) ?? []) yield { type: "text", text };
    for (const [index, { id, name, arguments: text }] of reply.toolCalls.entries()) {
      const half = Math.ceil(text.length / 2);
      yield { type: "call", index, id, name, arguments: text.slice(0, half) };
      yield { type: "call", index, arguments: text.slice(half) };
    }
    yield { type: "reply", reply };
  }

  return { name: "scripted", requests, complete, stream };
}

/** A promise that never settles, for a provider or a tool that ignores its signal. */
export function never<T>(): Promise<T> {
  return new Promise(() => {});
}
