import { z } from "zod";
import {
  type ApiDescription,
  BODY_PROBLEMS,
  jsonAnswer,
  problems,
} from "../../shared/ops/api_description.ts";
import { runAnswer } from "./openapi_answers.ts";
import { clientsApi } from "./openapi_clients.ts";
import { AgentReply, AgentRequest, StudioModels } from "../../shared/schemas/agent.ts";

const EXAMPLE = { messages: [{ type: "human" as const, content: "What is 17 * 23?" }] };

const ModelId = z.string().meta({
  description: "The model: the UUID of a fine-tuned one, or `<provider>/<model>` of the hub.",
  example: "demo/assistant",
});

/** What `/openapi.json` says of the agent backend. */
export const agentApi: ApiDescription = {
  title: "assay-agent",
  description: "Answers a conversation with a tool-using agent on the model of your choice.",
  routes: {
    ...clientsApi,
    "GET /": {
      summary: "What the service is",
      responses: { 200: jsonAnswer("Its name and routes.", z.looseObject({ name: z.string() })) },
    },
    "POST /": {
      summary: "Answer a conversation",
      requestParams: { header: z.object({ "x-model-id": ModelId }) },
      requestBody: {
        required: true,
        content: { "application/json": { schema: AgentRequest, example: EXAMPLE } },
      },
      responses: {
        200: runAnswer({
          description: "The agent's last message; as events where `accept` prefers them.",
          schema: AgentReply,
          events: "`token`, `reasoning`, `tool_call` and `tool_result` as they come, then " +
            "`message` and `done`, or `error` with the problem. Failures before the first event " +
            "have their own status, and the same `error` event.",
        }),
        ...BODY_PROBLEMS,
        ...problems({
          400: "`invalid_json`, `invalid_request`, `missing_model_id`, `invalid_model_id`",
          404: "`model_not_found`: the provider does not know the model",
          502: "`provider_error`, `provider_auth`, `empty_reply`",
          503: "`overloaded`, `shutting_down`, `provider_not_configured`",
          504: "`provider_timeout`",
        }),
      },
    },
    "GET /studio/models": {
      summary: "The fine-tuned models, by name",
      responses: {
        200: jsonAnswer("Names to UUIDs.", StudioModels),
        ...problems({ 502: "`provider_error`, `provider_auth`" }),
      },
    },
  },
};
