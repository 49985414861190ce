import { z } from "zod";
import { Content as AnyContent, limitMedia, ToolEvents } from "../../core/agent_message.ts";

/** Text or parts; nothing counts as empty text. */
const Content = AnyContent.nullish().transform((content) => content ?? "");

const Call = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
}).meta({ id: "ChatToolCall" });

/** One message of an OpenAI conversation, its content as text, or as parts if it is more. */
export const CompletionMessage = z.discriminatedUnion("role", [
  z.looseObject({ role: z.literal("system"), content: Content }),
  z.looseObject({ role: z.literal("developer"), content: Content }),
  z.looseObject({ role: z.literal("user"), content: Content }),
  z.looseObject({
    role: z.literal("assistant"),
    content: Content,
    tool_calls: z.array(Call).nullish(),
  }),
  z.looseObject({ role: z.literal("tool"), content: Content, tool_call_id: z.string() }),
  z.looseObject({ role: z.literal("function"), content: Content, name: z.string() }),
]).meta({ id: "ChatMessage" });
export type CompletionMessage = z.infer<typeof CompletionMessage>;

/** Some clients of local servers send -1 for "no limit". */
const TokenLimit = z.int().min(-1).refine((limit) => limit !== 0, {
  error: "must be above 0, or -1 for no limit",
});

/** The body of `POST /v1/chat/completions`. Fields that are not named here are kept. */
export const CompletionRequest = z.looseObject({
  model: z.string(),
  messages: z.array(CompletionMessage).min(1).superRefine(limitMedia),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.int().positive().nullish(),
  temperature: z.number().nullish(),
  max_tokens: TokenLimit.nullish(),
  max_completion_tokens: TokenLimit.nullish(),
  tools: z.array(z.unknown()).nullish(),
  functions: z.array(z.unknown()).nullish(),
}).meta({ id: "ChatCompletionRequest" });
export type CompletionRequest = z.infer<typeof CompletionRequest>;

/** The body of a completion that is not streamed. Further fields of providers are kept. */
export const Completion = z.looseObject({
  id: z.string(),
  object: z.literal("chat.completion"),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      message: z.looseObject({
        role: z.literal("assistant"),
        content: z.string().nullable(),
        refusal: z.string().nullish(),
        tool_calls: z.array(
          Call.extend({ type: z.string().optional() }).meta({ id: "ChatCompletionToolCall" }),
        ).optional(),
        tool_events: ToolEvents.optional(),
      }).meta({ id: "ChatCompletionMessage" }),
      finish_reason: z.string(),
      logprobs: z.looseObject({}).nullish(),
    }).meta({ id: "ChatCompletionChoice" }),
  ),
  usage: z.looseObject({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
  }).meta({ id: "ChatCompletionUsage" }).optional(),
  system_fingerprint: z.string().nullish(),
  service_tier: z.string().nullish(),
}).meta({ id: "ChatCompletion" });

/** The body of `GET /v1/models/{id}`. */
export const Model = z.looseObject({
  id: z.string(),
  object: z.literal("model"),
  created: z.int(),
  owned_by: z.string(),
  name: z.string().meta({ description: "A name to show." }),
  shutdown_date: z.string().optional().meta({
    description: "When it will no longer answer, as its provider says it.",
  }),
}).meta({ id: "Model" });
export type Model = z.infer<typeof Model>;

/** The body of `GET /v1/models`. */
export const ModelList = z.looseObject({
  object: z.literal("list"),
  data: z.array(Model),
  diagnostics: z.object({
    hub: z.string().optional().meta({ description: "Why the hub's models could not be listed." }),
    hidden_models: z.array(z.string()).optional(),
    reason: z.string().optional(),
  }).optional().meta({ description: "Models of the hub that are missing or cannot be asked." }),
}).meta({ id: "ModelList" });
export type ModelList = z.infer<typeof ModelList>;

/** The body of every error below `/v1/`, as OpenAI's clients read it. */
export const OpenAIError = z.object({
  error: z.looseObject({
    message: z.string(),
    type: z.string(),
    code: z.string().nullable(),
    param: z.string().nullable(),
  }),
}).meta({ id: "OpenAIError" });
export type OpenAIError = z.infer<typeof OpenAIError>;
