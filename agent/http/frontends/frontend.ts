import { z } from "zod";
import type { Fields } from "../../../shared/service/fields.ts";
import { toProblem } from "../../../shared/http/answer.ts";
import { parseToolArguments } from "../../../shared/providers/openai_messages.ts";
import type { ToolDefinition } from "../../../shared/providers/provider.ts";
import { type RunEncoder, toAccount } from "../answer/run_request.ts";
import type { AgentEvent } from "../../core/agent_message.ts";

const UIPart = z.looseObject({ type: z.string() });
export type UIPart = z.infer<typeof UIPart>;

/** The body that `useChat` of the AI SDK sends. */
export const UIRequest = z.looseObject({
  id: z.string().min(1),
  messages: z.array(z.looseObject({
    id: z.string(),
    role: z.enum(["system", "user", "assistant"]),
    parts: z.array(UIPart),
  })).min(1),
}).meta({ id: "UIMessageRequest" });
export type UIRequest = z.infer<typeof UIRequest>;

/** AG-UI's `RunAgentInput`. */
export const RunAgentInput = z.looseObject({
  threadId: z.string(),
  runId: z.string(),
  messages: z.array(z.looseObject({ id: z.string(), role: z.string() })).min(1),
  tools: z.array(z.looseObject({
    name: z.string().min(1),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
  })).nullish(),
  context: z.array(z.looseObject({ description: z.string(), value: z.string() })).nullish(),
}).meta({ id: "RunAgentInput" });
export type RunAgentInput = z.infer<typeof RunAgentInput>;

/** A request of a frontend library, in the service's own terms. */
export interface FrontendRequest {
  /** By what the stream can be taken up again. */
  streamKey: string;
  conversationId: string;
  /** As `POST /` takes them. */
  messages: Fields[];
  /** Tools that run in the page. */
  callerTools?: ToolDefinition[] | undefined;
  frontend: Frontend;
}

/** Writes one run as the events of a frontend library. Each method returns the next events. */
export interface Frontend {
  headers: Record<string, string>;
  /** The last event, if it is not JSON. */
  end?: string;
  start(): Fields[];
  event(event: AgentEvent): Fields[];
  finish(outcome: {
    /** Calls that wait for the page: of its own tools, or for an approval. */
    pending: { id: string; name: string; args: unknown }[];
    finishReason: string;
    account: ReturnType<typeof toAccount>;
  }): Fields[];
  fail(problem: ReturnType<typeof toProblem>): Fields[];
}

/** The start comes with the first event: a failure before it sets the status. */
export function toEncoder(frontend: Frontend, requestId: string): RunEncoder {
  let hasStarted = false;
  function encode(events: Fields[]) {
    const all = hasStarted ? events : [...frontend.start(), ...events];
    hasStarted = true;
    return all.map((event) => ({ data: JSON.stringify(event) }));
  }

  return {
    headers: frontend.headers,
    event: (event) => encode(frontend.event(event)),
    finish(ended) {
      const { refusal, toolCalls, finishReason } = ended.report.reply;
      const refused = refusal ? frontend.event({ type: "token", text: refusal }) : [];
      const last = frontend.finish({
        pending: toolCalls.map(({ id, name, arguments: text }) => ({
          id,
          name,
          args: parseToolArguments(text) ?? text,
        })),
        finishReason: finishReason ?? "stop",
        account: toAccount(ended),
      });
      return [...encode([...refused, ...last]), ...frontend.end ? [{ data: frontend.end }] : []];
    },
    fail: (error) => encode(frontend.fail(toProblem(error, requestId))),
  };
}
