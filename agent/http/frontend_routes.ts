import { z } from "zod";
import type { Handler, Route } from "../../shared/http/router.ts";
import { loadOnce } from "../../shared/service/waiting.ts";
import { eventsAnswer } from "../../shared/service/ops/api_description.ts";
import type { RunRouteDeps } from "./answer/run_request.ts";
import type { FrontendHandlers } from "./frontends/handlers.ts";
import { RunAgentInput, UIRequest } from "./frontends/frontend.ts";
import { AgentApprove, AgentResume, ModelId, RUN_FAILURES } from "./agent_routes.ts";

const header = z.object({
  "x-model-id": ModelId,
  "x-agent-approve": AgentApprove,
  "x-agent-resume": AgentResume,
});

const problems = {
  400: "`invalid_json`, `invalid_request`, `missing_model_id`, `invalid_model_id`",
  404: "`model_not_found`",
  ...RUN_FAILURES,
};

const said = { id: "1", role: "user" };
const text = "What is 17 * 23?";

/** The routes for libraries of frontends. */
export function createFrontendRoutes(deps: RunRouteDeps): Route[] {
  /** The first request to one of them loads the handlers. */
  const load = loadOnce(async () => {
    const { createFrontendHandlers } = await import("./frontends/handlers.ts");
    return createFrontendHandlers(deps);
  });
  const handler = (name: keyof FrontendHandlers): Handler => async (request, context) =>
    await (await load())[name](request, context);
  return [
    {
      method: "POST",
      path: "/ai-sdk",
      summary: "The agent for `useChat` of the AI SDK",
      index: { text: "the same agent for useChat of the AI SDK" },
      params: { header },
      body: {
        schema: UIRequest,
        example: { id: "chat-1", messages: [{ ...said, parts: [{ type: "text", text }] }] },
      },
      answers: { 200: eventsAnswer("The AI SDK's UI message stream, version 1.") },
      problems,
      handler: handler("answerUI"),
    },
    {
      method: "GET",
      path: "/ai-sdk/:id/stream",
      summary: "Take up the stream of a chat again, from its start",
      index: { text: "take up the stream of a chat again" },
      params: { path: z.object({ id: z.string().meta({ description: "The id of the chat." }) }) },
      answers: {
        200: eventsAnswer("The AI SDK's UI message stream, version 1."),
        204: { description: "There is nothing to take up." },
      },
      handler: handler("resumeUI"),
    },
    {
      method: "POST",
      path: "/ag-ui",
      summary: "The agent for clients of AG-UI 1.0",
      index: { text: "the same agent for clients of AG-UI" },
      params: { header },
      body: {
        schema: RunAgentInput,
        example: {
          threadId: "thread-1",
          runId: "run-1",
          messages: [{ ...said, content: text }],
          tools: [],
          context: [],
        },
      },
      answers: { 200: eventsAnswer("AG-UI's events, from `RUN_STARTED` to `RUN_FINISHED`.") },
      problems,
      handler: handler("answerAgui"),
    },
  ];
}
