import { checkBody, readJsonValue } from "../../../shared/http/body.ts";
import { workSignal } from "../../../shared/http/connection.ts";
import { jsonResponse } from "../../../shared/http/answer.ts";
import type { Handler } from "../../../shared/http/router.ts";
import { lazy } from "../../../shared/service/waiting.ts";
import { CompletionRequest } from "../schemas/chat_completion.ts";
import {
  accountFields,
  accountHeaders,
  callerOf,
  collectToolEvents,
  type RunRouteDeps,
  streamRun,
  wantsApproval,
  wantsToolEvents,
} from "../answer/run_request.ts";
import { chooseModel } from "../../core/models/choice.ts";
import { wantsJson } from "../../../shared/providers/adaptations.ts";
import {
  createCompletionEncoder,
  createFrame,
  lastReply,
  runUsage,
  toCompletion,
  withoutAsides,
} from "./completion.ts";
import {
  type CompletionCaller,
  type OpenedCompletion,
  readMode,
  requireModel,
  toConversation,
} from "./request.ts";
import { findModel, listModels } from "./model_list.ts";

export type OpenAIHandlers = Record<"complete" | "respond" | "listModels" | "findModel", Handler>;

/**
 * The agent for OpenAI clients. `model` takes what `x-model-id` takes. A plain request (see `readMode`)
 * is a run without the agent's tools and system prompt.
 */
export function createOpenAIHandlers(
  { config, models, runner, runs }: RunRouteDeps,
): OpenAIHandlers {
  const bodyLimits = { maxBytes: config.MAX_BODY_BYTES };

  function open(
    body: CompletionRequest,
    { headers, caller, field }: CompletionCaller,
  ): OpenedCompletion {
    const { model, isPlain } = readMode(body.model, headers);
    const choice = chooseModel(model, { where: "the field model", rules: config });
    const conversation = toConversation(body);
    const needsApproval = wantsApproval(headers);
    const run = runner.prepare({ choice, field, caller, needsApproval, isPlain, ...conversation });
    return { run, isJson: wantsJson(conversation.settings.extra) };
  }

  return {
    respond: lazy(async () => {
      const { createResponseHandler } = await import("./responses/handler.ts");
      return createResponseHandler({ open, runs, bodyLimits });
    }),

    listModels: async (request, { connection }) =>
      Response.json(await listModels(models, { signal: workSignal(request, connection) })),

    findModel: async (request, { connection, params }) =>
      Response.json(
        await findModel(models, { path: params.id!, signal: workSignal(request, connection) }),
      ),

    complete: async (request, context) => {
      const { fields, connection, requestId } = context;
      const value = await readJsonValue(request, bodyLimits);
      requireModel(value);
      const body = checkBody(value, CompletionRequest);
      fields.model = body.model;
      const { headers } = request;
      const { run, isJson } = open(body, { headers, caller: callerOf(context) });
      connection.onClose(runs.take());
      if (body.stream) {
        const encoder = createCompletionEncoder({
          model: run.model,
          requestId,
          includeUsage: body.stream_options?.include_usage === true,
          showTools: wantsToolEvents(request),
        });
        const { signal } = request;
        return await streamRun(run, isJson ? withoutAsides(encoder) : encoder, { signal, context });
      }
      const tools = collectToolEvents(request);
      const signal = workSignal(request, connection);
      const report = await run.start({ signal, onTool: tools?.add });
      Object.assign(fields, accountFields(report));
      const completion = toCompletion(lastReply(report), {
        frame: createFrame(report.model),
        usage: runUsage(report),
        toolEvents: tools?.seen,
      });
      return jsonResponse(completion, {
        headers: accountHeaders({ report, repairs: run.repairs }),
      });
    },
  };
}
