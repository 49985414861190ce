import { z } from "zod";
import type { Handler, Route } from "../../shared/http/router/router.ts";
import { lazy } from "../../shared/lazy.ts";
import {
  type ErrorFormat,
  jsonAnswer,
  type ProblemTexts,
} from "../../shared/ops/api_description.ts";
import {
  Completion,
  CompletionRequest,
  Model,
  ModelList,
  OpenAIError,
} from "../schemas/chat_completion.ts";
import { ResponseObject, ResponsesRequest } from "../schemas/responses.ts";
import type { OpenAIHandlers } from "../openai/handlers.ts";
import { AgentApprove, PROVIDER_REFUSALS, runAnswer, type RunRouteDeps } from "./agent_routes.ts";

const CompletionHeaders = z.object({
  "x-agent-tools": z.enum(["off"]).optional().meta({
    description: "`off`: the model alone, with the tools of the request.",
  }),
  "x-agent-events": z.enum(["tools"]).optional().meta({
    description: "`tools`: the message, or the deltas of a stream, have `tool_events`.",
  }),
  "x-agent-approve": AgentApprove,
});

const RUN_PROBLEMS: ProblemTexts = {
  400: "`invalid_json`, `invalid_request`, `missing_model_id`, `invalid_model_id`, " +
    "`unsupported_parameter`",
  404: "`model_not_found`",
  ...PROVIDER_REFUSALS,
  502: "`provider_error`, `provider_auth`, `empty_reply`",
  503: "`overloaded`, `shutting_down`, `provider_not_configured`",
  504: "`provider_timeout`",
};

const errorFormat: ErrorFormat = { contentType: "application/json", schema: OpenAIError };

/** The routes for OpenAI clients. */
export function createOpenAIRoutes(deps: RunRouteDeps): Route[] {
  const handler = createLazyHandlers(deps);
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
          schema: Completion,
          events: "OpenAI's chunks, then `[DONE]`.",
        }),
      },
      problems: RUN_PROBLEMS,
      errorFormat,
      handler: handler("complete"),
    },
    {
      method: "POST",
      path: "/v1/responses",
      summary: "The same agent for clients of OpenAI's Responses API",
      index: { text: "the same agent for clients of OpenAI's Responses API" },
      params: { header: CompletionHeaders.omit({ "x-agent-events": true }) },
      body: {
        schema: ResponsesRequest,
        example: { model: "demo/assistant", input: "What is 17 * 23?" },
      },
      answers: {
        200: runAnswer({
          description: "OpenAI's response; with `stream` its events.",
          schema: ResponseObject,
          events: "`response.created`, then OpenAI's events, then `response.completed` or " +
            "`response.incomplete`; `error` and `response.failed` if it fails on the way.",
        }),
      },
      problems: RUN_PROBLEMS,
      errorFormat,
      handler: handler("respond"),
    },
    {
      method: "GET",
      path: "/v1/models",
      summary: "The models, for OpenAI clients",
      answers: {
        200: jsonAnswer("OpenAI's list.", ModelList),
      },
      problems: { 502: "`provider_error`, `provider_auth`", 504: "`provider_timeout`" },
      errorFormat,
      handler: handler("listModels"),
    },
    {
      method: "GET",
      path: "/v1/models/*id",
      summary: "One model, for OpenAI clients; the slash of its id may be encoded or not",
      index: { text: "one model, for OpenAI clients" },
      params: {
        path: z.object({ id: z.string().meta({ description: "As `GET /v1/models` lists it." }) }),
      },
      answers: { 200: jsonAnswer("The model, as OpenAI's API describes one.", Model) },
      problems: {
        404: "`model_not_found`",
        502: "`provider_error`, `provider_auth`",
        504: "`provider_timeout`",
      },
      errorFormat,
      handler: handler("findModel"),
    },
  ];
}

/** Loads the handlers with the first request to one of them. */
function createLazyHandlers(deps: RunRouteDeps): (name: keyof OpenAIHandlers) => Handler {
  let handlers: OpenAIHandlers | undefined;
  return (name) =>
    lazy(async () => {
      const { createOpenAIHandlers } = await import("../openai/handlers.ts");
      return (handlers ??= createOpenAIHandlers(deps))[name];
    });
}
