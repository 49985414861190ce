import { abortError } from "../../../shared/service/waiting.ts";
import { demoAnswer, type DemoConversation, findToolCalls, type Voice } from "./demo_answers.ts";
import { textOf, toolCallsOf } from "../../../shared/providers/content.ts";
import { DEMO_MODEL, DEMO_STUDIO } from "./choice.ts";
import {
  type CallOptions,
  type ChatDelta,
  type ChatProvider,
  type ChatReply,
  type ChatRequest,
  type ListedModel,
  type ModelLister,
  ProviderError,
  type ToolCall,
} from "../../../shared/providers/provider.ts";
import { asFields, asList } from "../../../shared/service/fields.ts";

/**
 * A model that needs no key and no network, for a service without configuration. It takes its
 * answers from a table, calls real tools, refers to the conversation, and always gives the same
 * answer to the same request.
 */
export function createDemoProvider(): ChatProvider & ModelLister {
  function complete(request: ChatRequest, options: CallOptions = {}): Promise<ChatReply> {
    return new Promise((resolve) => {
      throwIfAborted(options);
      resolve(reply(request));
    });
  }

  async function* stream(
    request: ChatRequest,
    options: CallOptions = {},
  ): AsyncGenerator<ChatDelta> {
    const whole = await complete(request, options);
    for (const text of whole.content?.match(/\s*\S+/g) ?? []) {
      throwIfAborted(options);
      yield { type: "text", text };
    }
    yield { type: "reply", reply: whole };
  }

  function listModels(): Promise<ListedModel[]> {
    return Promise.resolve([{ id: DEMO_MODEL, name: DEMO_MODEL }, DEMO_STUDIO]);
  }

  return { name: "demo", complete, stream, listModels };
}

function throwIfAborted({ signal }: CallOptions): void {
  if (signal?.aborted) throw abortError(signal);
}

function reply(request: ChatRequest): ChatReply {
  const voice = voiceOf(request.model);
  const conversation = readConversation(request);
  const toolCalls = conversation.results.length > 0 ? [] : callTools(request, conversation);
  const content = toolCalls.length > 0
    ? null
    : inFormat(demoAnswer(voice, conversation), request.extra?.response_format);
  const promptTokens = countTokens(JSON.stringify([request.messages, request.tools]));
  const completionTokens = countTokens(content ?? JSON.stringify(toolCalls));
  return {
    id: `chatcmpl-demo-${request.messages.length}-${promptTokens}`,
    model: request.model,
    content,
    refusal: null,
    toolCalls,
    finishReason: toolCalls.length > 0 ? "tool_calls" : "stop",
    usage: {
      promptTokens,
      completionTokens,
      totalTokens: promptTokens + completionTokens,
      promptDetails: null,
      completionDetails: null,
    },
    systemFingerprint: "fp_demo",
    serviceTier: null,
    logprobs: null,
  };
}

function voiceOf(model: string): Voice {
  if (model === DEMO_MODEL) return "assistant";
  if (model.toLowerCase() === DEMO_STUDIO.id) return "support";
  throw new ProviderError(
    404,
    "model_not_found",
    `cannot get a reply for model "${model}": the embedded demo has only ${DEMO_MODEL} and ` +
      `${DEMO_STUDIO.id} (${DEMO_STUDIO.name}); HUB_BASE_URL and STUDIO_BASE_URL configure others`,
    { kind: "status", status: 404 },
  );
}

function readConversation({ messages }: ChatRequest): DemoConversation {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const texts = messages.filter(({ role }) => role === "user").map(({ content }) =>
    textOf(content)
  );
  const called = new Map(messages.flatMap(toolCallsOf).map((call) => [call.id, call]));
  return {
    said: texts.at(-1) ?? "",
    earlier: texts.slice(0, -1),
    results: messages.slice(asked + 1).flatMap((message) => {
      if (message.role !== "tool") return [];
      const call = called.get(message.toolCallId);
      return [{
        tool: call?.name ?? "tool",
        given: call?.arguments ?? "",
        content: textOf(message.content),
      }];
    }),
  };
}

function callTools({ tools = [], messages }: ChatRequest, { said }: DemoConversation): ToolCall[] {
  const taken = new Set(messages.flatMap(toolCallsOf).map(({ id }) => id));
  const offered = new Set(tools.map(({ name }) => name));
  return [...findToolCalls(said), ...findNamedTools(said, offered)]
    .filter(({ tool }) => offered.has(tool))
    .map(({ tool, args }) => ({
      id: takeId(taken),
      name: tool,
      arguments: JSON.stringify(args),
    }));
}

/** Other tools, of MCP servers and callers, are called if the message says `use` and their name. */
function findNamedTools(said: string, offered: Set<string>) {
  const [, name = ""] = /\buse ([\w-]+)/i.exec(said.slice(0, 1_000)) ?? [];
  return offered.has(name) ? [{ tool: name, args: {} }] : [];
}

/** Nine letters or digits, as Mistral requires, and unique in the conversation. */
function takeId(taken: Set<string>): string {
  for (let number = taken.size + 1;; number++) {
    const id = `demo${String(number).padStart(5, "0")}`;
    if (taken.has(id)) continue;
    taken.add(id);
    return id;
  }
}

/** Four characters per token: about what the usual tokenizers need for English. */
function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** Of one answer; a schema may refer to itself. Further ones are `null`. */
const MOST_VALUES = 200;
const MOST_ITEMS = 10;

/** An answer as JSON, if the request's `response_format` asks for it. */
function inFormat(answer: string, responseFormat: unknown): string {
  const { type, json_schema } = asFields(responseFormat);
  if (type === "json_object") return JSON.stringify({ answer });
  if (type !== "json_schema") return answer;
  const root = asFields(json_schema).schema;
  let values = 0;

  /** A value that fits: each text is the answer; of several values or forms it is the first. */
  function fit(schema: unknown): unknown {
    if (++values > MOST_VALUES) return null;
    const fields = asFields(schema);
    const { $ref, properties, items } = fields;
    if (typeof $ref === "string") {
      const names = $ref.split("/").slice(1);
      return fit(names.reduce<unknown>((found, name) => asFields(found)[name], root));
    }
    if ("const" in fields) return fields.const;
    if (fields.enum) return asList(fields.enum)[0];
    const [form] = [...asList(fields.anyOf), ...asList(fields.oneOf)];
    if (form) return fit(form);
    const [kind = properties ? "object" : "string"] = [fields.type].flat();
    switch (kind) {
      case "object":
        return Object.fromEntries(
          Object.entries(asFields(properties)).map(([name, inner]) => [name, fit(inner)]),
        );
      case "array":
        return Array.from(
          { length: Math.min(Number(fields.minItems ?? 1), MOST_ITEMS) },
          () => fit(items),
        );
      case "integer":
      case "number":
        return Number(fields.minimum ?? 0);
      case "boolean":
        return false;
      case "null":
        return null;
      default:
        return answer;
    }
  }

  return JSON.stringify(fit(root));
}
