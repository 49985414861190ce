import { z } from "zod";
import { asList, isFields } from "../../shared/service/fields.ts";
import { refuseMisspelt } from "../../shared/service/field_errors.ts";
import { simplifyContent } from "../../shared/providers/content.ts";
import type { CallPiece, ChatContent, ContentPart } from "../../shared/providers/provider.ts";

/** Images, audio and files in one conversation. */
const MAX_MEDIA = 100;
/** Characters of all of them together; most of it is base64. */
const MAX_MEDIA_CHARACTERS = 20_000_000;

/** One part of a content. Which types are taken is the provider's decision. */
const Part = z.union([
  z.string().transform((text): ContentPart => ({ type: "text", text })),
  z.looseObject({ type: z.string() }).transform(toOpenAIPart),
]);

/** Text, or a list of parts: OpenAI's, or LangChain's content blocks. Plain text becomes text. */
export const Content = z.union([
  z.string(),
  z.array(Part).transform((parts): ChatContent => simplifyContent(parts)),
]);

/** Refuses a conversation whose images, sounds and files are too many or too large. */
export function limitMedia(
  messages: { content: ChatContent }[],
  context: z.RefinementCtx,
): void {
  let count = 0;
  let characters = 0;
  for (const { content } of messages) {
    if (typeof content === "string") continue;
    for (const part of content) {
      if (part.type === "text") continue;
      count++;
      characters += JSON.stringify(part).length;
    }
  }
  const message = count > MAX_MEDIA
    ? `has ${count} images, sounds and files; at most ${MAX_MEDIA} are accepted`
    : characters > MAX_MEDIA_CHARACTERS
    ? `has images, sounds and files of over ${MAX_MEDIA_CHARACTERS} characters`
    : undefined;
  if (message) context.addIssue({ code: "custom", message });
}

/** LangChain's content blocks, and names that OpenAI uses elsewhere, as parts of a chat message. */
function toOpenAIPart(part: ContentPart): ContentPart {
  switch (part.type) {
    case "input_text":
    case "output_text":
      return { type: "text", text: String(part.text ?? "") };
    case "refusal":
      return { type: "text", text: String(part.refusal ?? "") };
    case "text":
      return typeof part.text === "string" ? part : { ...part, text: "" };
    case "image_url":
      return typeof part.image_url === "string"
        ? { ...part, image_url: { url: part.image_url } }
        : part;
    case "image":
      return dataOf(part) ? { type: "image_url", image_url: { url: urlOf(part) } } : part;
    case "audio":
      return dataOf(part) ? toInputAudio(part) : part;
    case "file":
      return dataOf(part) ? toFile(part) : part;
    default:
      return part;
  }
}

/** A block's base64 or address. Its newer form has no `source_type`. */
function dataOf({ data, base64, url }: ContentPart): string | undefined {
  return [data, base64, url].find((value) => typeof value === "string");
}

function urlOf(part: ContentPart): string {
  if (typeof part.url === "string") return part.url;
  return `data:${part.mime_type ?? "application/octet-stream"};base64,${dataOf(part)}`;
}

function toInputAudio(part: ContentPart): ContentPart {
  const subtype = String(part.mime_type ?? "").split("/")[1] ?? "";
  const format = subtype === "mpeg" ? "mp3" : subtype.replace(/^x-/, "") || "wav";
  return { type: "input_audio", input_audio: { data: dataOf(part), format } };
}

function toFile(part: ContentPart): ContentPart {
  const { filename = "file" } = { ...(part.metadata as object), ...part } as { filename?: string };
  return { type: "file", file: { filename, file_data: urlOf(part) } };
}

/**
 * One item of a conversation as frontends send it. `content` may be a list of parts. Unknown fields
 * are kept. The kinds have no component of their own: OpenAPI would then add a
 * `discriminator`, which makes validating proxies look for `type` in the wrong place.
 */
export const AgentMessage = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("human"), content: Content }),
  z.looseObject({ type: z.literal("ai"), content: Content }),
  z.looseObject({ type: z.literal("tool"), content: Content, name: z.string().nullish() }),
  z.looseObject({ type: z.literal("system"), content: Content }),
]).meta({ id: "AgentMessage" });
export type AgentMessage = z.infer<typeof AgentMessage>;

const SETTINGS = {
  temperature: z.number().min(0).max(2).nullish(),
  max_tokens: z.int().positive().nullish(),
};

const Conversation = z.looseObject({
  messages: z.array(AgentMessage).min(1).superRefine(limitMedia),
  ...SETTINGS,
}).meta({ id: "AgentConversation" });

const Prompt = z.looseObject({ prompt: z.string(), ...SETTINGS }).meta({ id: "AgentPrompt" });

const FIELDS = ["messages", "prompt", ...Object.keys(SETTINGS)];

/** The fields of a body that mean nothing here. */
export function ignoredFields(body: AgentRequest): string[] {
  return Object.keys(body).filter((name) => !FIELDS.includes(name));
}

/** The body of `POST /`; `{"prompt": "…"}` is short for one human message. */
export const AgentRequest = z.preprocess(spellOut, Conversation);
export type AgentRequest = z.infer<typeof AgentRequest>;

/** Both forms of the body, as callers may send it. */
export const AgentRequestBody = z.union([Conversation, Prompt]).meta({ id: "AgentRequest" });

/** The body with its messages in one form, whichever of LangChain's forms they have. */
function spellOut(body: unknown, context: z.RefinementCtx): unknown {
  if (isFields(body)) refuseMisspelt(FIELDS)(body, context);
  const whole = spellOutPrompt(body, context);
  if (!isFields(whole) || !Array.isArray(whole.messages)) return whole;
  return { ...whole, messages: whole.messages.map(spellOutMessage) };
}

const TYPES: Record<string, string> = { user: "human", assistant: "ai", developer: "system" };

/**
 * A message as `{type, content}`. LangChain also has tuples, `{role, content}`, stored messages
 * (`{type, data}`) and those of `JSON.stringify` (`{lc, id, kwargs}`).
 */
function spellOutMessage(message: unknown): unknown {
  if (Array.isArray(message) && message.length === 2) {
    return spellOutMessage({ role: message[0], content: message[1] });
  }
  if (!isFields(message)) return message;
  const { type, role, data, kwargs, id, ...rest } = message;
  if (message.lc !== undefined && isFields(kwargs)) {
    const name = String(asList(id).at(-1)).replace(/Message(Chunk)?$/, "").toLowerCase();
    return { ...kwargs, type: name };
  }
  if (isFields(data) && message.content === undefined) return { ...data, type };
  if (type !== undefined || typeof role !== "string") return message;
  const { tool_calls: calls, ...said } = rest;
  const isRaw = asList(calls).some((call) => isFields(call) && isFields(call.function));
  const own = isRaw
    ? { additional_kwargs: { tool_calls: calls } }
    : calls
    ? { tool_calls: calls }
    : {};
  return { ...said, ...own, type: TYPES[role] ?? role };
}

function spellOutPrompt(body: unknown, context: z.RefinementCtx): unknown {
  const isShort = typeof body === "object" && body !== null && !("messages" in body) &&
    "prompt" in body && typeof body.prompt === "string";
  if (!isShort) return body;
  const content = body.prompt as string;
  if (content.trim() === "") {
    context.addIssue({ code: "custom", path: ["prompt"], message: "must not be blank" });
  }
  return { ...body, messages: [{ type: "human", content }] };
}

/** A tool call whose arguments are a JSON object. */
export const ReplyToolCall = z.object({
  name: z.string(),
  args: z.record(z.string(), z.unknown()),
  id: z.string(),
  type: z.literal("tool_call"),
}).meta({ id: "ReplyToolCall" });
export type ReplyToolCall = z.infer<typeof ReplyToolCall>;

/** A tool call whose arguments could not be read; `args` is the model's own text. */
export const ReplyInvalidToolCall = z.object({
  name: z.string(),
  args: z.string(),
  id: z.string(),
  error: z.string(),
  type: z.literal("invalid_tool_call"),
}).meta({ id: "ReplyInvalidToolCall" });
export type ReplyInvalidToolCall = z.infer<typeof ReplyInvalidToolCall>;

const RawToolCall = z.looseObject({
  id: z.string(),
  type: z.literal("function"),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
}).meta({ id: "RawToolCall" });

const TokenDetails = z.record(z.string(), z.number()).meta({ id: "TokenDetails" });

/** Further fields of the provider's answer and usage are passed on unchanged. */
const ResponseMetadata = z.looseObject({
  token_usage: z.looseObject({
    completion_tokens: z.number(),
    prompt_tokens: z.number(),
    total_tokens: z.number(),
    completion_tokens_details: TokenDetails.nullable(),
    prompt_tokens_details: TokenDetails.nullable(),
  }).meta({ id: "TokenUsage" }),
  model_name: z.string(),
  system_fingerprint: z.string().nullable(),
  id: z.string().nullable(),
  service_tier: z.string().nullable(),
  finish_reason: z.string().nullable(),
  logprobs: z.record(z.string(), z.unknown()).nullable(),
}).meta({ id: "ResponseMetadata" });

const UsageMetadata = z.object({
  input_tokens: z.number(),
  output_tokens: z.number(),
  total_tokens: z.number(),
  input_token_details: TokenDetails,
  output_token_details: TokenDetails,
}).meta({ id: "UsageMetadata" });

/** What the tools of a run did, in order. */
export const ToolEvents = z.array(
  z.discriminatedUnion("type", [
    z.object({
      type: z.literal("tool_call"),
      id: z.string(),
      name: z.string(),
      args: z.union([z.record(z.string(), z.unknown()), z.string()]).meta({
        description: "The model's text if it is not a JSON object.",
      }),
    }),
    z.object({
      type: z.literal("tool_result"),
      id: z.string(),
      name: z.string(),
      content: z.string(),
      status: z.enum(["ok", "error"]),
      ms: z.number(),
    }),
  ]).meta({ id: "ToolEvent" }),
).meta({ description: "What the tools did, if the request had `x-agent-events: tools`." });

/** The body of the answer. The order of its keys is fixed. */
export const AgentReply = z.object({
  content: z.string(),
  /** Further fields of the provider are passed on unchanged. */
  additional_kwargs: z.looseObject({
    tool_calls: z.array(RawToolCall).optional(),
    refusal: z.string().nullable(),
  }),
  response_metadata: ResponseMetadata,
  type: z.literal("ai"),
  name: z.string().nullable(),
  id: z.string(),
  example: z.literal(false),
  tool_calls: z.array(ReplyToolCall),
  invalid_tool_calls: z.array(ReplyInvalidToolCall),
  usage_metadata: UsageMetadata,
  tool_events: ToolEvents.optional(),
}).meta({ id: "AgentReply" });
export type AgentReply = z.infer<typeof AgentReply>;

/** The body of `GET /studio/models`: model names to their UUIDs. */
export const StudioModels = z.record(z.string(), z.string()).meta({ id: "StudioModels" });
export type StudioModels = z.infer<typeof StudioModels>;

/** A call of one of the agent's own tools, or its result. */
export type ToolEvent = z.output<typeof ToolEvents>[number];

/** Something that happened in a run. */
export type AgentEvent =
  /** `logprobs` are those of this text, as the provider sent them. */
  | { type: "token"; text: string; logprobs?: Record<string, unknown> }
  | { type: "reasoning"; text: string }
  /**
   * A piece of a tool call that the caller has to run, at `index` among its calls of the turn. The
   * id and the name come at least with its first piece.
   */
  | CallPiece
  | ToolEvent;

/** Handles one event. The run waits for it, so that events do not pile up for a slow reader. */
export type Emit<Event = AgentEvent> = (event: Event) => void | Promise<void>;

/** How a caller follows its run. */
export interface RunObserver {
  /** Ends the run. */
  signal: AbortSignal;
  /** If given, the provider's answers are streamed and each event is passed to it. */
  emit?: Emit | undefined;
  /** Gets the events of the agent's tools without `emit`, of a run whose answers come whole. */
  onTool?: Emit<ToolEvent> | undefined;
}
