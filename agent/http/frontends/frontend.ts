import type { Fields } from "../../../shared/service/fields.ts";
import { toProblem } from "../../../shared/http/answer.ts";
import { parseToolArguments } from "../../../shared/providers/openai_messages.ts";
import type { ToolDefinition } from "../../../shared/providers/provider.ts";
import { type RunEncoder, toAccount } from "../answer/run_request.ts";
import type { AgentEvent } from "../../core/agent_message.ts";

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
