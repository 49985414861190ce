import { z } from "zod";
import type { Route } from "../../shared/http/router.ts";
import { jsonAnswer } from "../../shared/ops/api_description.ts";
import { CompletionRequest } from "../../shared/schemas/chat_completion.ts";
import { createOpenAIHandlers } from "../openai/routes.ts";
import type { RunRouteDeps } from "./agent_routes.ts";
import { runAnswer } from "./run_answer.ts";

const CompletionHeaders = z.object({
  "x-agent-tools": z.enum(["off"]).optional().meta({
    description: "`off`: the model alone, with the tools of the request.",
  }),
  "x-agent-events": z.enum(["tools"]).optional().meta({
    description: "`tools`: the stream shows the tool calls too.",
  }),
});

/** The routes for OpenAI clients. */
export function createOpenAIRoutes(deps: RunRouteDeps): Route[] {
  const { complete, listModels } = createOpenAIHandlers(deps);
  return [
    {
      method: "POST",
      path: "/v1/chat/completions",
      summary: "The same agent for OpenAI clients; errors are in OpenAI's format",
      index: { text: "the same agent for OpenAI clients" },
      params: { header: CompletionHeaders },
      body: {
        schema: CompletionRequest,
        example: {
          model: "demo/assistant",
          messages: [{ role: "user", content: "What is 17 * 23?" }],
        },
      },
      answers: {
        200: runAnswer({
          description: "OpenAI's chat completion; with `stream` its chunks as events.",
          schema: z.looseObject({ id: z.string(), choices: z.array(z.looseObject({})) }),
          events: "OpenAI's chunks, then `[DONE]`.",
        }),
      },
      problems: {
        404: "`model_not_found`",
        502: "`provider_error`, `provider_auth`, `empty_reply`",
        504: "`provider_timeout`",
      },
      handler: complete,
    },
    {
      method: "GET",
      path: "/v1/models",
      summary: "The models, for OpenAI clients",
      answers: {
        200: jsonAnswer(
          "OpenAI's list.",
          z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) }),
        ),
      },
      problems: { 502: "`provider_error`, `provider_auth`; in OpenAI's format" },
      handler: listModels,
    },
  ];
}
