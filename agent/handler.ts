import { AppError } from "../shared/errors.ts";
import { readJson } from "../shared/http/body.ts";
import type { Places } from "../shared/http/places.ts";
import type { Service } from "../shared/http/router.ts";
import { createService } from "../shared/http/service.ts";
import type { Logger } from "../shared/log.ts";
import type { Operations } from "../shared/ops/operations.ts";
import { routeModel } from "../shared/routing.ts";
import { AgentRequest } from "../shared/schemas/agent.ts";
import type { AgentConfig } from "./config.ts";
import { runAgent } from "./graph.ts";
import { buildHistory } from "./history.ts";
import type { Models, Target } from "./models.ts";
import { toAgentReply } from "./reply.ts";
import type { Toolbox } from "./tools/tool.ts";

/** Everything the outside world supplies. */
export interface AgentDeps {
  config: AgentConfig;
  log: Logger;
  models: Models;
  tools: Toolbox;
  /** Runs under way. */
  runs: Places;
  operations?: Operations;
}

/** The agent backend's routes (spec 4.2 and 4.3). */
export function createAgentHandler(deps: AgentDeps): Service {
  const { config, log, models, tools, runs } = deps;
  const settings = {
    maxSteps: config.AGENT_MAX_STEPS,
    temperature: config.AGENT_TEMPERATURE,
    maxTokens: config.AGENT_MAX_TOKENS,
  };

  return createService({
    "GET /": () =>
      Response.json({
        name: "assay-agent",
        about: "Answers a conversation with a tool-using agent on the model of your choice.",
        endpoints: {
          "POST /": "send {messages} with the header x-model-id; the answer is the last message",
          "GET /studio/models": "the fine-tuned models, by name",
        },
        tools: tools.names,
        ...(models.demoModel && { demo_model: models.demoModel }),
      }),

    "GET /studio/models": async ({ signal }) => Response.json(await models.listStudio(signal)),

    "POST /": async (request, context) => {
      const { target, model } = readModelId(request);
      context.fields.model = model;
      const body = await readJson(request, AgentRequest, {
        maxBytes: config.MAX_BODY_BYTES,
        timeoutMs: config.BODY_TIMEOUT_MS,
      });
      const { messages } = buildHistory(body.messages, {
        systemPrompt: config.AGENT_SYSTEM_PROMPT,
      });
      const provider = models.providerFor(target);
      context.connection.onClose(runs.take());
      const { signal } = request;
      const result = await runAgent({ provider, model, messages, tools, settings, signal, log });
      Object.assign(context.fields, {
        input_tokens: result.inputTokens,
        output_tokens: result.outputTokens,
        model_calls: result.modelCalls,
        tool_calls: result.toolCalls,
        ...(result.stoppedBy && { stopped_by: result.stoppedBy }),
      });
      return Response.json(toAgentReply(result.reply));
    },
  }, deps);
}

/** Reads `x-model-id` (spec 4.4). Throws 400 where it is missing or fits neither form. */
function readModelId(request: Request): { target: Target; model: string } {
  const id = request.headers.get("x-model-id")?.trim();
  if (!id) {
    throw new AppError(
      400,
      "missing_model_id",
      "cannot choose a model: send the header x-model-id, a UUID or <provider>/<model>",
    );
  }
  const { target, model } = routeModel(id);
  if (target) return { target, model };
  const shown = JSON.stringify(model.slice(0, 100));
  throw new AppError(
    400,
    "invalid_model_id",
    `cannot route model ${shown}: neither a UUID nor <provider>/<model>`,
  );
}
