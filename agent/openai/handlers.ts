import { readJson } from "../../shared/http/body.ts";
import { workSignal } from "../../shared/http/connection.ts";
import type { Capacity } from "../../shared/http/admission.ts";
import type { Handler } from "../../shared/http/router.ts";
import { CompletionRequest } from "../../shared/schemas/chat_completion.ts";
import type { AgentEvent } from "../run/events.ts";
import { chooseModel } from "../models/choice.ts";
import type { Runner, RunnerDeps } from "../run/runner.ts";
import { createFrame, toCompletion } from "./completion.ts";
import { readMode } from "./mode.ts";
import { findModel, listModels } from "./model_list.ts";
import { toConversation, toPlainRequest } from "./request.ts";
import { createResponseHandler } from "./responses/handler.ts";
import { type CompletionSource, fromAgent, fromModel } from "./source.ts";
import { streamCompletion } from "./stream.ts";

export type OpenAIHandlers = Record<"complete" | "respond" | "listModels" | "findModel", Handler>;

/**
 * The agent for OpenAI clients. `model` takes what `x-model-id` takes. A plain request (see `readMode`)
 * goes straight to the provider.
 */
export function createOpenAIHandlers(
  { config, models, runner, runs }: RunnerDeps & { runner: Runner; runs: Capacity },
): OpenAIHandlers {
  const bodyLimits = { maxBytes: config.MAX_BODY_BYTES, timeoutMs: config.BODY_TIMEOUT_MS };

  function open(body: CompletionRequest, { headers }: Request): CompletionSource {
    const { model, isPlain } = readMode(body.model, headers);
    const choice = chooseModel(model, { where: "the field model", rules: config });
    if (!isPlain) return fromAgent(runner.prepare({ choice, ...toConversation(body) }));
    const request = toPlainRequest({ ...body, model: choice.model });
    return fromModel(models.providerFor(choice.target), request);
  }

  return {
    respond: createResponseHandler({ open, runs, bodyLimits }),

    listModels: async (request, { connection }) =>
      Response.json(await listModels(models, workSignal(request, connection))),

    findModel: async (request, { connection, params }) =>
      Response.json(
        await findModel(models, { path: params.id!, signal: workSignal(request, connection) }),
      ),

    complete: async (request, context) => {
      const { fields, connection } = context;
      const body = await readJson(request, CompletionRequest, bodyLimits);
      fields.model = body.model;
      const source = open(body, request);
      connection.onClose(runs.take());
      const showTools = request.headers.get("x-agent-events")?.trim().toLowerCase() === "tools";
      if (body.stream) {
        const includeUsage = body.stream_options?.include_usage === true;
        const { signal } = request;
        return await streamCompletion(source, { signal, context, includeUsage, showTools });
      }
      const seen: AgentEvent[] = [];
      const signal = workSignal(request, connection);
      const outcome = await source.start({ signal, ...(showTools && { emit: keepToolEvents }) });
      Object.assign(fields, outcome.fields);
      const frame = createFrame(source.model);
      const toolEvents = showTools ? seen : undefined;
      return Response.json(toCompletion(outcome.reply, { frame, ...outcome, toolEvents }), {
        headers: outcome.headers,
      });

      function keepToolEvents(event: AgentEvent): void {
        if (event.type === "tool_call" || event.type === "tool_result") seen.push(event);
      }
    },
  };
}
