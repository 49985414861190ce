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

/** The body of `POST /v1/responses`. Fields that are not named here are kept. */
export const ResponsesRequest = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(InputItem).min(1)]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_output_tokens: z.int().positive().nullish(),
  tools: z.array(z.looseObject({ type: z.string() })).nullish(),
  tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: z.looseObject({ format: Format.nullish(), verbosity: z.string().nullish() }).nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
  include: z.array(z.string()).nullish(),
  top_logprobs: z.int().nullish(),
  store: z.boolean().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  previous_response_id: z.string().nullish(),
  conversation: z.unknown().optional(),
  prompt: z.unknown().optional(),
  background: z.boolean().nullish(),
}).meta({ id: "ResponseRequest" });
export type ResponsesRequest = z.infer<typeof ResponsesRequest>;

/** The body of a response that is not streamed. */
export const ResponseObject = z.looseObject({
  id: z.string(),
  object: z.literal("response"),
  created_at: z.int(),
  status: z.enum(["completed", "incomplete"]),
  model: z.string(),
  output: z.array(
    z.looseObject({
      id: z.string(),
      type: z.enum(["message", "reasoning", "function_call"]),
      status: z.string().optional(),
    }).meta({ id: "ResponseOutputItem" }),
  ),
  usage: z.looseObject({
    input_tokens: z.int(),
    output_tokens: z.int(),
    total_tokens: z.int(),
  }).meta({ id: "ResponseUsage" }).nullable(),
}).meta({ id: "Response" });
