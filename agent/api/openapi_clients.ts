import { z } from "zod";
import {
  type ApiDescription,
  BODY_PROBLEMS,
  jsonAnswer,
  problems,
} from "../../shared/ops/api_description.ts";
import { runAnswer } from "./openapi_answers.ts";
import { CompletionRequest } from "../../shared/schemas/chat_completion.ts";

const COMPLETION = {
  model: "demo/assistant",
  messages: [{ role: "user" as const, content: "What is 17 * 23?" }],
};

/** The routes beside the specification's: OpenAI's, and those that explain the service. */
export const clientsApi: ApiDescription["routes"] = {
  "GET /tools": {
    summary: "The tools of the agent, and the state of the servers they come from",
    responses: {
      200: jsonAnswer(
        "The tools.",
        z.object({
          tools: z.array(z.looseObject({ name: z.string(), source: z.string() })),
          servers: z.array(z.looseObject({ name: z.string(), state: z.string() })),
        }),
      ),
    },
  },
  "GET /route": {
    summary: "Where a model id leads, and why",
    requestParams: { query: z.object({ model: z.string() }) },
    responses: {
      200: jsonAnswer("The route.", z.looseObject({ model: z.string(), reason: z.string() })),
      ...problems({ 400: "`missing_model_id`" }),
    },
  },
  "GET /v1/models": {
    summary: "The models, for OpenAI clients",
    responses: {
      200: jsonAnswer(
        "OpenAI's list.",
        z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) }),
      ),
      ...problems({ 502: "`provider_error`, `provider_auth`; in OpenAI's shape" }),
    },
  },
  "POST /v1/chat/completions": {
    summary: "The same agent for OpenAI clients; errors are in OpenAI's shape",
    requestParams: {
      header: z.object({
        "x-agent-tools": z.enum(["off"]).optional().meta({
          description: "`off`: the model alone, with the tools that the request brings.",
        }),
        "x-agent-events": z.enum(["tools"]).optional().meta({
          description: "`tools`: the stream shows the tool calls too.",
        }),
      }),
    },
    requestBody: {
      required: true,
      content: { "application/json": { schema: CompletionRequest, example: COMPLETION } },
    },
    responses: {
      200: runAnswer({
        description: "OpenAI's chat completion; with `stream` its chunks as events.",
        schema: z.looseObject({ id: z.string(), choices: z.array(z.looseObject({})) }),
        events: "OpenAI's chunks, then `[DONE]`.",
      }),
      ...BODY_PROBLEMS,
      ...problems({
        404: "`model_not_found`",
        502: "`provider_error`, `provider_auth`, `empty_reply`",
        504: "`provider_timeout`",
      }),
    },
  },
};
