import { z } from "zod";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import { AppError } from "../../shared/service/errors.ts";
import { readJson } from "../../shared/http/body.ts";
import { workSignal } from "../../shared/http/connection.ts";
import { jsonResponse } from "../../shared/http/answer.ts";
import type { Handler, Route } from "../../shared/http/router.ts";
import { wantsEvents } from "../../shared/http/headers.ts";
import { PROVIDER_NAMES } from "../../shared/providers/provider.ts";
import { eventsAnswer, jsonAnswer, orEvents } from "../../shared/service/ops/api_description.ts";
import {
  AgentReply,
  AgentRequest,
  AgentRequestBody,
  ignoredFields,
  StudioModels,
} from "../core/agent_message.ts";
import {
  accountFields,
  accountHeaders,
  collectToolEvents,
  countRun,
  prepareRun,
  readModelId,
  resumeStream,
  type RunRouteDeps,
  toHeaderValue,
} from "./answer/run_request.ts";
import { streamAnswer, toAgentReply } from "./answer/reply.ts";
import { explainRoute } from "../core/models/choice.ts";

export const ModelId = z.string().meta({
  description: "The model: the UUID of a fine-tuned one, or `<provider>/<model>` of the hub.",
  example: "demo/assistant",
});

const AgentEvents = z.enum(["tools"]).optional().meta({
  description: "`tools`: the answer has what the tools did, as `tool_events`.",
});

const Tools = z.object({
  tools: z.array(
    z.looseObject({ name: z.string(), description: z.string(), source: z.string() })
      .meta({ id: "Tool" }),
  ),
  servers: z.array(
    z.looseObject({
      name: z.string(),
      transport: z.string(),
      state: z.string(),
      tools: z.int(),
      error: z.string().optional(),
      stderr: z.string().optional(),
      retry_at: z.string().optional(),
    }).meta({ id: "ToolServer" }),
  ),
}).meta({ id: "ToolReport" });

const ModelRoute = z.looseObject({
  target: z.enum(PROVIDER_NAMES).nullable(),
  model: z.string(),
  reason: z.string(),
}).meta({ id: "ModelRoute" });

/** The agent's own routes. */
export function createAgentRoutes(deps: RunRouteDeps): Route[] {
  const { config, models, tools, streams } = deps;
  return [
    {
      method: "POST",
      path: "/",
      summary: "Answer a conversation",
      index: { text: "send {messages} with the header x-model-id; the answer is the last message" },
      params: {
        header: z.object({
          "x-model-id": ModelId,
          "x-agent-events": AgentEvents,
          "x-agent-approve": AgentApprove,
          "x-agent-resume": AgentResume,
        }),
      },
      body: {
        schema: AgentRequestBody,
        example: { messages: [{ type: "human", content: "What is 17 * 23?" }] },
      },
      answers: {
        200: runAnswer({
          description: "The agent's last message; as events if `accept` prefers them.",
          schema: AgentReply,
          headers: {
            "x-agent-ignored-fields": z.string().optional().meta({
              description: "Fields of the body that have no meaning: `top_p, stream`.",
            }),
          },
          events: "`token`, `reasoning`, `tool_call` and `tool_result` as they come, then " +
            "`message` and `done`, or `error` with the problem. Failures before the first event " +
            "have their own status, and the same `error` event.",
        }),
      },
      problems: {
        400: "`invalid_json`, `invalid_request`, `missing_model_id`, `invalid_model_id`",
        404: "`model_not_found`: the provider does not know the model",
        ...RUN_FAILURES,
      },
      handler: createAnswerHandler(deps),
    },
    {
      method: "GET",
      path: "/studio/models",
      summary: "The fine-tuned models, by name",
      answers: { 200: jsonAnswer("Names to UUIDs.", StudioModels) },
      problems: LIST_FAILURES,
      handler: async (request, { connection }) =>
        Response.json(await models.listStudio(workSignal(request, connection))),
    },
    {
      method: "GET",
      path: "/streams/:id",
      summary: "Take up a stream again, behind the event that `last-event-id` names",
      index: { text: "take up a stream again" },
      params: {
        path: z.object({ id: z.string().meta({ description: "The header `x-agent-stream`." }) }),
        header: z.object({
          "last-event-id": z.string().optional().meta({
            description: "The id of the last event that arrived; if it is missing, all are sent.",
          }),
        }),
      },
      answers: { 200: eventsAnswer("The events of the stream, also those to come.") },
      problems: { 404: "`not_found`: no such stream, or no longer" },
      handler: (request, context) => resumeStream(request, { streams, context }),
    },
    {
      method: "GET",
      path: "/tools",
      summary: "The tools of the agent, and the state of the servers they come from",
      answers: { 200: jsonAnswer("The tools.", Tools) },
      handler: () => Response.json(tools.describe()),
    },
    {
      method: "GET",
      path: "/route",
      summary: "Where a model id leads, and why",
      index: { text: "where ?model=… leads, and why" },
      params: {
        query: z.object({
          model: z.string().meta({
            description: "The same as in `x-model-id`.",
            param: { allowReserved: true },
          }),
        }),
      },
      answers: {
        200: jsonAnswer("The route.", ModelRoute),
      },
      problems: { 400: "`missing_model_id`" },
      handler: (_, { url }) => Response.json(explainRoute(readModel(url), config)),
    },
  ];
}

function createAnswerHandler(deps: RunRouteDeps): Handler {
  const { config, runs } = deps;
  return async (request, context) => {
    const choice = readModelId(request, deps, context);
    const body = await readJson(request, AgentRequest, {
      maxBytes: config.MAX_BODY_BYTES,
    });
    const ignored = describeIgnored(ignoredFields(body));
    const run = prepareRun(body, { deps, request, context, choice });
    if (wantsEvents(request)) {
      const streamId = crypto.randomUUID();
      const keep = countRun(request, { deps, context, streamId });
      const headers = { ...ignored, ...(keep && { "x-agent-stream": streamId }) };
      return await streamAnswer(run, { signal: request.signal, context, headers, keep });
    }
    context.connection.onClose(runs.take());
    const tools = collectToolEvents(request);
    const signal = workSignal(request, context.connection);
    const report = await run.start({ signal, onTool: tools?.add });
    Object.assign(context.fields, accountFields(report));
    const reply = toAgentReply(report.reply);
    return jsonResponse(tools ? { ...reply, tool_events: tools.seen } : reply, {
      headers: { ...accountHeaders({ report, repairs: run.repairs }), ...ignored },
    });
  };
}

/** At most so many ignored fields are named in the header. */
const MAX_NAMED = 20;

function describeIgnored(names: string[]): Record<string, string> {
  if (names.length === 0) return {};
  const named = names.slice(0, MAX_NAMED).map((name) => toHeaderValue(name.slice(0, 60)));
  if (names.length > MAX_NAMED) named.push("...");
  return { "x-agent-ignored-fields": named.join(", ") };
}

function readModel(url: URL): string {
  const model = url.searchParams.get("model");
  if (model?.trim()) return model;
  throw new AppError(400, "missing_model_id", "cannot explain a route: send ?model=…");
}

const whole = (description: string) =>
  z.string().optional().meta({
    description: `${description} Not on a stream: its last event has it.`,
  });

/** The headers of `accountHeaders`. */
const ACCOUNT = {
  "x-agent-model": z.string().meta({ description: "The model that answered." }),
  "x-agent-model-calls": whole("Calls to the model."),
  "x-agent-tool-calls": whole("Calls to tools."),
  "x-agent-input-tokens": whole("Tokens read."),
  "x-agent-output-tokens": whole("Tokens written."),
  "x-agent-stopped": whole("What ended the run early, if anything did."),
  "x-agent-reply-encoding": whole("`not utf-8` if the model's bytes were not, and some were lost."),
  "server-timing": whole("Milliseconds in the model and in tools."),
  "x-history-repairs": z.string().optional().meta({
    description: "What was repaired in the messages: `paired=1, merged=2`.",
  }),
};

/** The header with which callers approve tool calls. */
export const AgentApprove = z.enum(["tools"]).optional().meta({
  description: "`tools`: a call of the agent's tools ends the answer and waits for its approval: " +
    "a tool message with `approved`, `refused` or `refused: <reason>`.",
});

/** The header that keeps a stream. */
export const AgentResume = z.enum(["true"]).optional().meta({
  description:
    "`true`: the run does not end with its reader, and its stream can be taken up again " +
    "for a minute: `GET /streams/{x-agent-stream}`.",
});

/** What any run may be answered. A provider's refusal may also be a 400, 403 or 413. */
export const RUN_FAILURES = {
  402: "`provider_refused`",
  422: "`provider_refused`; 400, 403 and 413 may have that code too",
  451: "`provider_refused`",
  502: "`provider_error`, `provider_auth`, `empty_reply`",
  503: "`overloaded`, `shutting_down`, `provider_not_configured`",
  504: "`provider_timeout`",
};

/** What any list of models may be answered. */
export const LIST_FAILURES = {
  502: "`provider_error`, `provider_auth`",
  504: "`provider_timeout`",
};

/** The answer of a run: whole, or as a stream of `events`. `headers` are further ones. */
export function runAnswer(
  { description, schema, events, headers }: {
    description: string;
    schema: z.ZodType;
    events: string;
    headers?: Record<string, z.ZodType>;
  },
): ZodOpenApiResponseObject {
  return orEvents(jsonAnswer(description, schema, { ...ACCOUNT, ...headers }), events);
}
