import type { z } from "zod";
import { checkBody, readJson } from "../../../shared/http/body.ts";
import type { Handler } from "../../../shared/http/router.ts";
import {
  callerOf,
  countRun,
  prepareRun,
  readModelId,
  resumeStream,
  type RunRouteDeps,
  streamRun,
} from "../answer/run_request.ts";
import { AgentRequest } from "../../core/agent_message.ts";
import { type FrontendRequest, RunAgentInput, toEncoder, UIRequest } from "./frontend.ts";
import { readRunInput } from "./ag_ui.ts";
import { readUIRequest } from "./ai_sdk.ts";

export type FrontendHandlers = Record<"answerUI" | "resumeUI" | "answerAgui", Handler>;

/** The agent for libraries of frontends. */
export function createFrontendHandlers(deps: RunRouteDeps): FrontendHandlers {
  const { config, streams } = deps;
  const limits = { maxBytes: config.MAX_BODY_BYTES };

  function answer<S extends z.ZodType>(
    schema: S,
    read: (body: z.output<S>) => FrontendRequest,
  ): Handler {
    return async (request, context) => {
      const choice = readModelId(request, deps, context);
      const { streamKey, messages, frontend, ...more } = read(
        await readJson(request, schema, limits),
      );
      const body = checkBody({ messages }, AgentRequest);
      const run = prepareRun(body, { deps, request, context, choice, ...more });
      const keep = countRun(request, { deps, context, streamId: streamKey });
      const encoder = toEncoder(frontend, context.requestId);
      return await streamRun(run, encoder, { signal: request.signal, context, keep });
    };
  }

  return {
    answerUI: answer(UIRequest, readUIRequest),
    answerAgui: answer(RunAgentInput, readRunInput),
    /** `useChat` asks with each page that it opens, and takes 204 for "nothing to resume". */
    resumeUI: async (request, context) => {
      if (!streams.has(context.params.id!, callerOf(context))) {
        return new Response(null, { status: 204 });
      }
      const headers = { "x-vercel-ai-ui-message-stream": "v1" };
      return await resumeStream(request, { streams, context, headers });
    },
  };
}
