import { type Connection, explainEnd } from "../../shared/http/connection.ts";
import { noteFailure, type RequestContext } from "../../shared/http/router.ts";
import type { Outlet, Push } from "./event_stream.ts";

type Produce = (push: Push, outlet: Outlet) => Promise<void>;

/** What a stream needs to know of its request. */
export interface StreamContext extends Pick<RequestContext, "requestId" | "fields" | "logAfter"> {
  /** Its end aborts what fills the stream, which then tells the caller why. */
  connection?: Connection;
}

/**
 * A stream whose end is told: to the caller by `tell` if it fails once it is open, and in the
 * request's log line, which waits for it. `produce` is ended by the reader's leaving and by the end
 * of the service.
 */
export function logged(
  produce: Produce,
  { context, tell }: {
    context: StreamContext;
    tell: (push: Push, error: unknown) => Promise<void>;
  },
): Produce {
  const { fields, connection } = context;
  const ended = Promise.withResolvers<void>();
  context.logAfter(ended.promise);

  return async (push, outlet) => {
    const ending = connection?.ending;
    const work: Outlet = {
      signal: ending ? AbortSignal.any([outlet.signal, ending]) : outlet.signal,
      get isOpen() {
        return outlet.isOpen;
      },
    };
    try {
      await produce(push, work);
    } catch (thrown) {
      const error = connection ? explainEnd(thrown, connection) : thrown;
      if (outlet.signal.aborted) fields.outcome = "client left";
      if (outlet.signal.aborted || !outlet.isOpen) throw error;
      fields.outcome = "failed";
      noteFailure(error, context);
      await tell(push, error);
    } finally {
      ended.resolve();
    }
  };
}
