import { asFields } from "../service/fields.ts";
import { shorten } from "../service/text.ts";
import { type Adaptation, isUnknownField } from "./adapted_requests.ts";
import {
  hasToolImages,
  joinContents,
  nameOf,
  textOf,
  toolCallsOf,
  withNameInText,
  withoutToolImages,
} from "./content.ts";
import {
  type ChatMessage,
  type ChatRequest,
  type ContentPart,
  MAX_OFFERED_TOOLS,
  type ToolDefinition,
} from "./provider.ts";

/** The later name of `max_tokens`. */
const NEWER_LIMIT = "max_completion_tokens";

/** Characters of a tool's description that Azure and earlier models of OpenAI take. */
const MAX_DESCRIPTION = 1024;

/** The provider considers the request malformed. */
const isBad = (status: number) => status === 400 || status === 422;

/** True if the text has all of these words. */
const namesAll = (text: string, ...words: RegExp[]) => words.every((word) => word.test(text));

/**
 * Forms of requests that strict providers refuse, and how to change them, in the order in which a
 * refusal is matched. Images are last: any refusal may be about them.
 */
export const ADAPTATIONS = {
  /** Mistral and older versions of Azure refuse to count the tokens of a stream. */
  streamUsage: {
    applies: ({ omitsUsage }) => !omitsUsage,
    adapt: (request) => ({ ...request, omitsUsage: true }),
    isRefusal: (status, { message }) =>
      isBad(status) && /stream_options|include_usage/.test(message),
  },
  /** OpenAI's reasoning models refuse `max_tokens`, and name the field to use instead. */
  newerLimit: {
    applies: ({ maxTokens }) => maxTokens !== undefined,
    adapt: ({ maxTokens, ...request }) => ({
      ...request,
      extra: { ...request.extra, [NEWER_LIMIT]: maxTokens },
    }),
    isRefusal: isAboutLimit,
  },
  /** Mistral refuses `max_completion_tokens`. */
  olderLimit: {
    applies: ({ maxTokens, extra }) =>
      maxTokens === undefined && typeof extra?.[NEWER_LIMIT] === "number",
    adapt: ({ extra: { [NEWER_LIMIT]: limit, ...extra } = {}, ...request }) => ({
      ...request,
      extra,
      maxTokens: limit as number,
    }),
    isRefusal: isAboutLimit,
  },
  /** Mistral accepts no names of authors: they are moved into the text. */
  authorNames: {
    applies: ({ messages }) => messages.some(nameOf),
    adapt: (request) => ({ ...request, messages: request.messages.map(withNameInText) }),
    isRefusal: (status, error) => isUnknownField(status, error) && /\bname\b/.test(error.message),
  },
  /** For Gemma, o1-mini and others a system message is moved into the first user message. */
  systemMessages: {
    applies: ({ messages }) => messages.some(isSystem),
    adapt({ messages, ...request }) {
      request.onRepair?.({ system: messages.filter(isSystem).length });
      return { ...request, messages: withSystemAsUser(messages) };
    },
    isRefusal: (status, { message }) =>
      isBad(status) && namesAll(
        message,
        /\bsystem\b|developer instruction/i,
        /\bnot (supported|support|allowed|enabled)|unsupported|only user/i,
      ),
  },
  /** Mistral, and the templates of Llama and Gemma, require a certain order of roles and calls. */
  strictOrder: {
    applies: ({ asStrict }) => asStrict !== undefined,
    adapt: ({ asStrict = (messages) => messages, ...request }) => ({
      ...request,
      messages: asStrict(request.messages),
    }),
    isRefusal: (status, { message }) => (isBad(status) || status === 500) && ORDER.test(message),
  },
  longDescriptions: {
    applies: ({ tools = [] }) => tools.some(isLong),
    adapt: ({ tools = [], ...request }) => ({ ...request, tools: tools.map(shortened) }),
    isRefusal: (status, { message }) =>
      isBad(status) && namesAll(
        message,
        /\bdescription\b/i,
        /\b(too long|max(imum)?[ _]length|at most|less than or equal|fewer than)\b/i,
      ),
  },
  /** OpenAI, Azure and Groq take 128 tools, xAI 200, Gemini 512. */
  manyTools: {
    applies: (request) => mayLoseTools(request) && (request.tools ?? []).length > MAX_OFFERED_TOOLS,
    adapt: ({ tools = [], ...request }) => ({
      ...request,
      tools: tools.slice(0, MAX_OFFERED_TOOLS),
    }),
    isRefusal: (status, { message }) =>
      isBad(status) &&
      namesAll(message, /\b(tools|function declarations)\b/i, /\b(maximum|at most)\b/i),
  },
  /** Groq, Gemini and others refuse tools together with an answer in JSON. */
  jsonWithTools: {
    applies: (request) => mayLoseTools(request) && wantsJson(request.extra),
    adapt: withoutTools,
    isRefusal: (status, { message }) =>
      isBad(status) && namesAll(
        message,
        /\b(tools?|functions?)\b/i,
        /\bjson\b|response.(format|mime)|structured.output|controlled.generation|grammar/i,
        /cannot|can't|not (supported|allowed|permitted)|unsupported|incompatible|both|same time/i,
      ),
  },
  /** Models without tools, and servers that were started without. */
  tools: {
    applies: mayLoseTools,
    adapt: withoutTools,
    isRefusal: (status, { message }) =>
      [400, 405, 422, 500, 501].includes(status) && NO_TOOLS.some((words) => words.test(message)),
  },
  /** OpenRouter, also while those providers of a model that take tools are down. */
  toolsForNow: {
    applies: mayLoseTools,
    adapt: withoutTools,
    isPassing: true,
    isRefusal: (status, { message }) => status === 404 && /\bsupport tool use\b/i.test(message),
  },
  /**
   * Bedrock and others refuse a conversation with tool calls without tools, as at the last step of a
   * run. They get a definition of each tool in the conversation.
   */
  toolHistory: {
    applies: ({ messages, tools }) => !tools?.length && calledTools(messages).size > 0,
    adapt: (request) => ({
      ...request,
      tools: [...calledTools(request.messages)].map(toDefinition),
    }),
    isRefusal: (status, { message }) => isBad(status) && /tool/i.test(message),
  },
  /** OpenAI and others refuse images in the results of the caller's tools: they get them after these. */
  resultImages: {
    applies: ({ messages }) => messages.some(hasResultImages),
    adapt: (request) => ({
      ...request,
      messages: request.messages.map(withImagesApart),
      keepsImages: true,
    }),
    isRefusal: isBad,
  },
  /** OpenRouter answers 404 if no provider of the model takes images. */
  toolImages: {
    applies: ({ messages, keepsImages }) => !keepsImages && hasToolImages(messages),
    adapt: (request) => ({ ...request, messages: withoutToolImages(request.messages) }),
    isRefusal: (status) => [400, 404, 413, 415, 422].includes(status),
  },
} satisfies Record<string, Adaptation>;

/** How servers say that a conversation is not in the order that they take. */
const ORDER = new RegExp(
  [
    "\\balternat\\w+",
    "\\b(unexpected|expected last|invalid|incorrect) role\\b",
    "\\broles? (must|should)\\b",
    "\\bconversation roles\\b",
    "\\b(after|following) (a )?(message with )?role\\b",
    "\\btool.?call.?ids?\\b",
    "\\bnumber of function calls\\b",
    "\\b(single|one) tool.?calls?\\b",
    "\\bmust (be followed|follow|immediately follow|start|begin)\\b",
    "\\bsystem message must\\b",
  ].join("|"),
  "i",
);

function isSystem({ role }: ChatMessage): boolean {
  return role === "system";
}

function withSystemAsUser(messages: ChatMessage[]): ChatMessage[] {
  const prompt = messages.filter(isSystem).map(({ content }) => textOf(content)).join("\n\n");
  const [first, ...rest] = messages.filter((message) => !isSystem(message));
  if (first?.role !== "user") {
    return [{ role: "user", content: prompt }, ...(first ? [first, ...rest] : [])];
  }
  return [{ ...first, content: joinContents(prompt, first.content) }, ...rest];
}

/** How servers say that a model has no tools at all. */
const CALLING = "(?:native )?(?:tools?|functions?)(?:[ -](?:use|calls?|calling))?[`'\"]?";
const NO_TOOLS = [
  new RegExp(`(?:does not|doesn't|do not|don't) support [\`'"]?${CALLING}\\s*(?:[.,:;(]|$)`, "im"),
  // Not of a kind of calls: "parallel tool calls are not supported".
  new RegExp(
    `(?:^|[^\\p{L}\\p{N}\\s]\\s*|\\b(?:that|the|as|because|since)\\s+)${CALLING} ` +
      "(?:is|are) not (?:currently )?(?:supported|enabled)",
    "iu",
  ),
  /\btool use has not been enabled\b/i, // NVIDIA
  /--enable-auto-tool-choice|\btools? param requires --jinja\b/, // vLLM, llama.cpp
];

function isAboutLimit(status: number, error: Error): boolean {
  return isUnknownField(status, error) && error.message.includes(NEWER_LIMIT);
}

function isLong({ description = "" }: ToolDefinition): boolean {
  return description.length > MAX_DESCRIPTION;
}

function shortened(tool: ToolDefinition): ToolDefinition {
  if (!isLong(tool)) return tool;
  return { ...tool, description: shorten(tool.description ?? "", MAX_DESCRIPTION, "…") };
}

/** True if the tools are only the agent's: those of the caller are never left out. */
function mayLoseTools({ tools, mayOmitTools }: ChatRequest): boolean {
  return Boolean(mayOmitTools && tools?.length);
}

/** The same request without the agent's tools, and without the fields that need some. */
function withoutTools(
  { tools: _, mayOmitTools: __, extra = {}, ...request }: ChatRequest,
): ChatRequest {
  const { tool_choice: _choice, parallel_tool_calls: _parallel, ...rest } = extra;
  return { ...request, extra: rest };
}

/** True if the provider is asked for an answer in JSON. */
export function wantsJson(extra: Record<string, unknown> | undefined): boolean {
  const { type } = asFields(extra?.response_format);
  return type === "json_object" || type === "json_schema";
}

function calledTools(messages: ChatMessage[]): Set<string> {
  return new Set(messages.flatMap(toolCallsOf).map(({ name }) => name));
}

function toDefinition(name: string): ToolDefinition {
  return {
    name,
    description: "Was used earlier in this conversation. It cannot be called any more.",
    parameters: { type: "object", properties: {} },
  };
}

function isImage({ type }: ContentPart): boolean {
  return type === "image_url";
}

function hasResultImages({ role, content }: ChatMessage): boolean {
  return role === "tool" && typeof content !== "string" && content.some(isImage);
}

function withImagesApart(message: ChatMessage): ChatMessage {
  const { role, content } = message;
  if (role !== "tool" || typeof content === "string" || !hasResultImages(message)) return message;
  const images = content.filter(isImage);
  const named = content.map((part) => isImage(part) ? "(an image)" : textOf([part]));
  return { ...message, content: named.filter(Boolean).join("\n\n"), images };
}
