import { z } from "zod";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import { jsonAnswer, orEvents } from "../../shared/ops/api_description.ts";

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

/** Statuses that only a provider's refusal has. A refusal may also be a 400, 403 or 413. */
export const PROVIDER_REFUSALS = {
  402: "`provider_refused`",
  422: "`provider_refused`; 400, 403 and 413 may have that code too",
  451: "`provider_refused`",
};

interface RunAnswer {
  description: string;
  /** Of the whole answer. */
  schema: z.ZodType;
  /** Which events a stream has. */
  events: string;
  /** Headers in addition to those of every run. */
  headers?: Record<string, z.ZodType>;
}

/** The answer of a run: whole, or as a stream of events. */
export function runAnswer(
  { description, schema, events, headers }: RunAnswer,
): ZodOpenApiResponseObject {
  return orEvents(jsonAnswer(description, schema, { ...ACCOUNT, ...headers }), events);
}
