import { z } from "zod";

/** Text, or parts of any type; the parts are checked where they are translated. */
const Content = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);

const SUPPORTED_ITEMS =
  "only message, function_call, function_call_output, reasoning and item_reference are supported";

/** One item of the input of `POST /v1/responses`. A message may leave out its type. */
export const InputItem = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("message").default("message"),
    role: z.enum(["user", "assistant", "system", "developer"]),
    content: Content,
  }),
  z.looseObject({
    type: z.literal("function_call"),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
  }),
  z.looseObject({
    type: z.literal("function_call_output"),
    call_id: z.string(),
    output: Content,
  }),
  z.looseObject({
    type: z.literal("reasoning"),
    summary: z.array(z.looseObject({ text: z.string() })).nullish(),
    content: z.array(z.looseObject({ text: z.string() })).nullish(),
    encrypted_content: z.string().nullish(),
  }),
  z.looseObject({ type: z.literal("item_reference"), id: z.string() }),
], { error: (issue) => issue.code === "invalid_union" ? SUPPORTED_ITEMS : undefined })
  .meta({
    id: "ResponseInputItem",
    // Without a type the schemas do not exclude each other, as oneOf would say.
    override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
      jsonSchema.anyOf = jsonSchema.oneOf;
      delete jsonSchema.oneOf;
    },
  });
export type InputItem = z.infer<typeof InputItem>;

const Format = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text") }),
  z.looseObject({ type: z.literal("json_object") }),
  z.looseObject({
    type: z.literal("json_schema"),
    name: z.string(),
    schema: z.record(z.string(), z.unknown()),
    description: z.string().nullish(),
    strict: z.boolean().nullish(),
  }),
]);

const refused =
  "Refused with `unsupported_parameter`: responses, conversations and prompts are not stored.";

/** The body of `POST /v1/responses`. Fields that are not named here are kept. */
export const ResponsesRequest = z.looseObject({
  model: z.string().meta({ description: "What `x-model-id` of `POST /` takes." }),
  input: z.union([z.string(), z.array(InputItem).min(1)]).meta({
    description: "The user's message, or the whole conversation as items.",
  }),
  instructions: z.string().nullish().meta({
    description: "The system message, instead of `AGENT_SYSTEM_PROMPT`.",
  }),
  stream: z.boolean().nullish().meta({ description: "`true`: the answer is a stream of events." }),
  temperature: z.number().nullish().meta({ description: "The service's own if unset." }),
  top_p: z.number().nullish().meta({ description: "The provider's own if unset." }),
  max_output_tokens: z.int().positive().nullish().meta({
    description: "The most tokens of each model call.",
  }),
  presence_penalty: z.number().nullish().meta({ description: "The provider's own if unset." }),
  frequency_penalty: z.number().nullish().meta({ description: "The provider's own if unset." }),
  prompt_cache_key: z.string().nullish().meta({ description: "For the provider." }),
  safety_identifier: z.string().nullish().meta({ description: "For the provider." }),
  max_tool_calls: z.int().nullish().meta({ description: "Has no effect." }),
  tools: z.array(z.looseObject({ type: z.string() })).nullish().meta({
    description: "The caller's functions, beside the agent's tools. Other types are refused.",
  }),
  tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]).nullish().meta({
    description: "`auto`, `none`, `required`, a function, or `allowed_tools`.",
  }),
  parallel_tool_calls: z.boolean().nullish().meta({
    description: "`false`: the model calls one tool at a time.",
  }),
  text: z.looseObject({ format: Format.nullish(), verbosity: z.string().nullish() }).nullish()
    .meta({ description: "The format of the text: plain, JSON, or JSON by a schema." }),
  reasoning: z.looseObject({ effort: z.string().nullish() }).nullish().meta({
    description: "`effort`: how much the model thinks. Thoughts are always in the answer.",
  }),
  include: z.array(z.string()).nullish().meta({
    description: "`reasoning.encrypted_content`: what the model sent beside its text; " +
      "`message.output_text.logprobs`. Others are ignored.",
  }),
  top_logprobs: z.int().nullish().meta({
    description: "How many likely tokens `logprobs` has at each place.",
  }),
  store: z.boolean().nullish().meta({
    description: "`false`: later requests cannot refer to the items of the answer by their ids. " +
      "Not sent to the provider.",
  }),
  metadata: z.record(z.string(), z.unknown()).nullish().meta({
    description: "Returned as it is. Not sent to the provider.",
  }),
  previous_response_id: z.string().nullish().meta({ description: refused }),
  conversation: z.unknown().optional().meta({ description: refused }),
  prompt: z.unknown().optional().meta({ description: refused }),
  background: z.boolean().nullish().meta({ description: "`true` is refused." }),
}).meta({ id: "ResponseRequest" });
export type ResponsesRequest = z.infer<typeof ResponsesRequest>;

const OutputItem = z.looseObject({
  id: z.string(),
  type: z.enum(["message", "reasoning", "function_call"]),
  status: z.string().optional(),
  role: z.literal("assistant").optional().meta({ description: "Of a `message`." }),
  phase: z.string().optional().meta({
    description: "Of a `message`: what its provider calls its part in the answer.",
  }),
  content: z.array(z.looseObject({ type: z.string() })).optional().meta({
    description: "Of a `message`: one part, `output_text` or `refusal`.",
  }),
  summary: z.array(z.looseObject({ type: z.string(), text: z.string() })).optional().meta({
    description: "Of `reasoning`: the model's thoughts.",
  }),
  call_id: z.string().optional().meta({
    description: "Of a `function_call`: what its `function_call_output` names.",
  }),
  name: z.string().optional().meta({ description: "Of a `function_call`: the function." }),
  arguments: z.string().optional().meta({ description: "Of a `function_call`: JSON as text." }),
  encrypted_content: z.string().nullish().meta({
    description: "What the model sent beside its text, if `include` asks for it. Send it back " +
      "as it is.",
  }),
}).meta({ id: "ResponseOutputItem" });

/** The body of a response that is not streamed. */
export const ResponseObject = z.looseObject({
  id: z.string(),
  object: z.literal("response"),
  created_at: z.int().meta({ description: "Seconds since 1970." }),
  completed_at: z.int().nullable().meta({ description: "`null` if it is incomplete." }),
  status: z.enum(["completed", "incomplete"]).meta({
    description: "`incomplete`: `incomplete_details` says why the text ends early.",
  }),
  incomplete_details: z.looseObject({ reason: z.string() }).nullable().meta({
    description: "`max_output_tokens` or `content_filter`.",
  }),
  model: z.string().meta({ description: "The model that answered." }),
  output: z.array(OutputItem).meta({
    description: "What the model thought, said last, or calls of the caller's functions.",
  }),
  usage: z.looseObject({
    input_tokens: z.int(),
    input_tokens_details: z.looseObject({ cached_tokens: z.int() }),
    output_tokens: z.int(),
    output_tokens_details: z.looseObject({ reasoning_tokens: z.int() }),
    total_tokens: z.int(),
  }).meta({
    id: "ResponseUsage",
    description: "Of the whole run; `null` if the provider sent none.",
  }).nullable(),
  service_tier: z.string().nullable().meta({ description: "The provider's." }),
  error: z.null().meta({ description: "Errors have a status of their own." }),
  store: z.literal(false),
}).meta({
  id: "Response",
  description: "OpenAI's response. Fields that are not described here repeat the request.",
});
