import { noteFailure, type RequestContext } from "../../../shared/http/router/router.ts";
import type { ActiveRun } from "../manager/active_run.ts";
import type { ClientStream } from "./client_stream.ts";

interface StreamLogOptions {
  context: Pick<RequestContext, "fields" | "logAfter">;
  /** The run that the request started, if any. */
  begun?: ActiveRun | undefined;
}

/** Delays the log line of a request until its stream has ended, and adds how it ended. */
export function logStreamEnd(
  { ended, left }: Pick<ClientStream, "ended" | "left">,
  { context, begun }: StreamLogOptions,
): void {
  const { fields } = context;

  async function note(): Promise<void> {
    try {
      await ended;
      const outcome = left.aborted ? "client left" : (await begun?.ended)?.status;
      if (outcome) fields.outcome = outcome;
    } catch (error) {
      noteFailure(error, context);
    }
    Object.assign(fields, begun?.tokens());
  }

  context.logAfter(note());
}
