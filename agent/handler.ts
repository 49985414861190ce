import { accepts } from "@std/http/negotiation";
import { AppError } from "../shared/errors.ts";
import { readJson } from "../shared/http/body.ts";
import { workSignal } from "../shared/http/connection.ts";
import type { Places } from "../shared/http/places.ts";
import type { Service } from "../shared/http/router.ts";
import { createService } from "../shared/http/service.ts";
import type { Operations } from "../shared/ops/operations.ts";
import { AgentRequest } from "../shared/schemas/agent.ts";
import { accountFields, accountHeaders } from "./run/accounting.ts";
import { chooseModel, explainRoute } from "./models/choice.ts";
import { createOpenAIRoutes } from "./openai/routes.ts";
import { errorResponse } from "./openai/error_shape.ts";
import { toAgentReply } from "./answer/reply.ts";
import { createRunner, type RunnerDeps } from "./run/runner.ts";
import { streamAnswer } from "./answer/streamed_answer.ts";

/** Everything the outside world supplies. */
export interface AgentDeps extends RunnerDeps {
  /** Runs under way. */
  runs: Places;
  operations?: Operations;
}

const ENDPOINTS = {
  "POST /": "send {messages} with the header x-model-id; the answer is the last message",
  "GET /studio/models": "the fine-tuned models, by name",
  "POST /v1/chat/completions": "the same agent for OpenAI clients",
  "GET /v1/models": "the models, for OpenAI clients",
  "GET /tools": "the tools of the agent, and the state of the servers they come from",
  "GET /route": "where ?model=… leads, and why",
};

/** The agent backend's routes (spec 4.2 and 4.3, and what OpenAI clients expect). */
export function createAgentHandler(deps: AgentDeps): Service {
  const { config, models, tools, runs } = deps;
  const runner = createRunner(deps);

  return createService({
    "GET /": () =>
      Response.json({
        name: "assay-agent",
        about: "Answers a conversation with a tool-using agent on the model of your choice.",
        endpoints: ENDPOINTS,
        tools: tools.current().names,
        ...(models.demoModel && { demo_model: models.demoModel }),
      }),

    "GET /studio/models": async (request, { connection }) =>
      Response.json(await models.listStudio(workSignal(request, connection))),

    "GET /tools": () => Response.json(tools.describe()),

    "GET /route": (_, { url }) => Response.json(explainRoute(readModel(url))),

    "POST /": async (request, context) => {
      const choice = chooseModel(request.headers.get("x-model-id"), "the header x-model-id");
      context.fields.model = choice.model;
      const { messages } = await readJson(request, AgentRequest, {
        maxBytes: config.MAX_BODY_BYTES,
        timeoutMs: config.BODY_TIMEOUT_MS,
      });
      const run = runner.prepare({ choice, messages });
      context.connection.onClose(runs.take());
      if (wantsStream(request)) {
        return await streamAnswer(run, { signal: request.signal, context });
      }
      const report = await run.start({ signal: workSignal(request, context.connection) });
      Object.assign(context.fields, accountFields(report));
      return Response.json(toAgentReply(report.reply), {
        headers: accountHeaders({ report, repairs: run.repairs }),
      });
    },

    ...createOpenAIRoutes({ ...deps, runner }),
  }, { ...deps, errorResponse });
}

/** JSON where the caller has no preference: a stream is asked for, not fallen into. */
function wantsStream(request: Request): boolean {
  return accepts(request, "application/json", "text/event-stream") === "text/event-stream";
}

function readModel(url: URL): string {
  const model = url.searchParams.get("model");
  if (model?.trim()) return model;
  throw new AppError(400, "missing_model_id", "cannot explain a route: send ?model=…");
}
