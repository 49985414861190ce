import type { Fields } from "../../../shared/service/fields.ts";
import { toProblem } from "../../../shared/http/answer.ts";
import { parseToolArguments } from "../../../shared/providers/openai_messages.ts";
import type { ToolDefinition } from "../../../shared/providers/provider.ts";
import { accountFields, runHeaders, toAccount } from "../answer/run_request.ts";
import {
  type Outlet,
  type Push,
  streamEvents,
  type StreamOptions,
} from "../answer/event_stream.ts";
import type { AgentEvent } from "../../core/agent_message.ts";
import type { PreparedRun } from "../../core/run/runner.ts";

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

/** Encodes one run as the events of a frontend library. Each method returns the next events. */
export interface Frontend {
  headers: Record<string, string>;
  /** The last event, if it is not JSON. */
  end?: string;
  start(): Fields[];
  event(event: AgentEvent): Fields[];
  finish(outcome: FrontendOutcome): Fields[];
  fail(problem: ReturnType<typeof toProblem>): Fields[];
}

interface FrontendOutcome {
  /** Calls that wait for the page: of its own tools, or for an approval. */
  pending: { id: string; name: string; args: unknown }[];
  finishReason: string;
  account: ReturnType<typeof toAccount>;
}

/** Answers with the events of a run. A failure before the first of them sets the status. */
export function streamFrontend(
  run: PreparedRun,
  frontend: Frontend,
  options: StreamOptions,
): Promise<Response> {
  const { context } = options;
  let hasStarted = false;

  async function send(push: Push, events: Fields[]): Promise<void> {
    const all = hasStarted ? events : [...frontend.start(), ...events];
    hasStarted = true;
    for (const event of all) await push({ data: JSON.stringify(event) });
  }

  async function produce({ push, signal }: Outlet): Promise<void> {
    const emit = (event: AgentEvent) => send(push, frontend.event(event));
    const report = await run.start({ signal, emit });
    Object.assign(context.fields, accountFields(report));
    const { refusal, toolCalls, finishReason } = report.reply;
    if (refusal) await emit({ type: "token", text: refusal });
    await send(
      push,
      frontend.finish({
        pending: toolCalls.map(({ id, name, arguments: text }) => ({
          id,
          name,
          args: parseToolArguments(text) ?? text,
        })),
        finishReason: finishReason ?? "stop",
        account: toAccount({ report, repairs: run.repairs }),
      }),
    );
    if (frontend.end) await push({ data: frontend.end });
  }

  return streamEvents({
    ...options,
    produce,
    sendError: (push, error) => send(push, frontend.fail(toProblem(error, context.requestId))),
    headers: () => ({ ...frontend.headers, ...runHeaders(run) }),
  });
}
