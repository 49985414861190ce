import { isAbort } from "../shared/errors.ts";
import { toProblem } from "../shared/http/problem.ts";
import type { Logger } from "../shared/log.ts";
import { accountFields, repairHeaders, toAccount, toHeaderValue } from "./accounting.ts";
import { eventStreamResponse, openEventStream, type Outlet, type Push } from "./event_stream.ts";
import { toAgentReply } from "./reply.ts";
import type { PreparedRun } from "./runner.ts";

export interface StreamedAnswerOptions {
  signal: AbortSignal;
  requestId: string;
  log: Logger;
  keepAliveMs?: number;
}

/**
 * Answers with the events of a run: `token`, `reasoning`, `tool_call` and `tool_result` as they
 * come, then `message` with the body of the plain answer and `done` with what the run cost, or
 * `error` with the problem. Where it fails before the stream opens, the status tells that too.
 */
export async function streamAnswer(
  run: PreparedRun,
  { signal, requestId, log, keepAliveMs }: StreamedAnswerOptions,
): Promise<Response> {
  async function produce(push: Push, outlet: Outlet): Promise<void> {
    const send = (event: string, data: unknown) => push({ event, data: JSON.stringify(data) });
    try {
      const report = await run.start({
        signal: outlet.signal,
        emit: ({ type, ...data }) => send(type, data),
      });
      log.info("run", { request_id: requestId, ...accountFields(report) });
      await send("message", toAgentReply(report.reply));
      await send("done", toAccount({ report, repairs: run.repairs }));
    } catch (error) {
      if (outlet.signal.aborted || isAbort(error) || !outlet.isOpen) throw error;
      log.warn("run failed", { request_id: requestId, model: run.model, error });
      await send("error", toProblem(error, requestId));
    }
  }

  const headers = () => ({
    ...repairHeaders(run.repairs),
    "x-agent-model": toHeaderValue(run.model),
  });
  const options = { signal, ...(keepAliveMs !== undefined && { keepAliveMs }) };
  try {
    return eventStreamResponse(await openEventStream(produce, options), { headers: headers() });
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn("run failed", { request_id: requestId, model: run.model, error });
    const problem = toProblem(error, requestId);
    const failed = await openEventStream(
      (push) => push({ event: "error", data: JSON.stringify(problem) }),
      { signal },
    );
    return eventStreamResponse(failed, { headers: headers(), status: problem.status });
  }
}
