import { AppError } from "../../shared/errors.ts";
import { toProblem } from "../../shared/http/router/problem.ts";
import { noteFailure } from "../../shared/http/router/router.ts";
import { accountFields, repairHeaders, toAccount, toHeaderValue } from "./accounting.ts";
import {
  eventStreamResponse,
  openEventStream,
  type Outlet,
  type Push,
  streamEvents,
  type StreamOptions,
} from "./event_stream.ts";
import { toAgentReply } from "./reply.ts";
import type { Emit } from "../run/events.ts";
import type { PreparedRun } from "../run/runner.ts";

/**
 * Answers with the events of a run: `token`, `reasoning`, `tool_call` and `tool_result` as they
 * come, then `message` with the body of the plain answer and `done` with what the run cost, or
 * `error` with the problem. If the run fails before the stream opens, the status is the problem's.
 */
export async function streamAnswer(
  run: PreparedRun,
  options: StreamOptions & { headers?: Record<string, string> },
): Promise<Response> {
  const { signal, context } = options;
  async function produce({ push, signal }: Outlet): Promise<void> {
    const send = (event: string, data: unknown) => push({ event, data: JSON.stringify(data) });
    // The calls that wait for the caller are in `message`.
    const emit: Emit = ({ type, ...data }) => type === "call" ? undefined : send(type, data);
    const report = await run.start({ signal, emit });
    Object.assign(context.fields, accountFields(report));
    await send("message", toAgentReply(report.reply));
    await send("done", toAccount({ report, repairs: run.repairs }));
  }

  function sendError(push: Push, error: unknown): Promise<void> {
    return push({ event: "error", data: JSON.stringify(toProblem(error, context.requestId)) });
  }

  const headers = () => ({
    ...options.headers,
    ...repairHeaders(run.repairs),
    "x-agent-model": toHeaderValue(run.model()),
  });
  try {
    return await streamEvents({ ...options, produce, sendError, headers });
  } catch (error) {
    if (signal.aborted) throw error;
    const { status } = toProblem(error, context.requestId);
    if (status >= 500) noteFailure(error, context); // as the router does with any other answer
    const failed = await openEventStream(({ push }) => sendError(push, error), { signal });
    const told = error instanceof AppError ? error.headers : {};
    return eventStreamResponse(failed, { headers: { ...headers(), ...told }, status });
  }
}
