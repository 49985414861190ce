import { z } from "zod";

/** Text, or a list of text parts, or nothing; images and audio are refused. */
const Content = z.union([
  z.string(),
  z.array(
    z.looseObject({
      type: z.enum(["text", "refusal", "input_text"], { error: "only text parts are supported" }),
      text: z.string().optional(),
      refusal: z.string().optional(),
    }),
  ).transform((parts) => parts.map(({ text, refusal }) => text ?? refusal ?? "").join("")),
]).nullish().transform((content) => content ?? "");

const Call = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

/** One message of an OpenAI conversation, its content as plain text. */
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
]);
export type CompletionMessage = z.infer<typeof CompletionMessage>;

/** Some clients of local servers send -1 for "no limit". */
const TokenLimit = z.int().min(-1).refine((limit) => limit !== 0, {
  error: "must be above 0, or -1 for no limit",
});

/** The body of `POST /v1/chat/completions`. Fields that are not named here are kept. */
export const CompletionRequest = z.looseObject({
  model: z.string(),
  messages: z.array(CompletionMessage).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.int().positive().nullish(),
  temperature: z.number().nullish(),
  max_tokens: TokenLimit.nullish(),
  max_completion_tokens: TokenLimit.nullish(),
  tools: z.array(z.unknown()).nullish(),
  functions: z.array(z.unknown()).nullish(),
});
export type CompletionRequest = z.infer<typeof CompletionRequest>;
