import { z } from "zod";
import type { Handler, Route } from "../../shared/http/router.ts";
import { loadOnce } from "../../shared/service/waiting.ts";
import {
  type ErrorFormat,
  jsonAnswer,
  type ProblemTexts,
} from "../../shared/service/ops/api_description.ts";
import {
  Completion,
  CompletionRequest,
  Model,
  ModelList,
  OpenAIError,
} from "./schemas/chat_completion.ts";
import { ResponseObject, ResponsesRequest } from "./schemas/responses.ts";
import type { RunRouteDeps } from "./answer/run_request.ts";
import type { OpenAIHandlers } from "./openai/handlers.ts";
import { AgentApprove, LIST_FAILURES, RUN_FAILURES, runAnswer } from "./agent_routes.ts";

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
  ...RUN_FAILURES,
};

const errorFormat: ErrorFormat = { contentType: "application/json", schema: OpenAIError };

/** The routes for OpenAI clients. */
export function createOpenAIRoutes(deps: RunRouteDeps): Route[] {
  /** The first request to one of them loads the handlers. */
  const load = loadOnce(async () => {
    const { createOpenAIHandlers } = await import("./openai/handlers.ts");
    return createOpenAIHandlers(deps);
  });
  const handler = (name: keyof OpenAIHandlers): Handler => async (request, context) =>
    await (await load())[name](request, context);
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
      problems: LIST_FAILURES,
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
      problems: { 404: "`model_not_found`", ...LIST_FAILURES },
      errorFormat,
      handler: handler("findModel"),
    },
  ];
}
