import { noteFailure, type RequestContext } from "../shared/http/router.ts";
import type { Outlet, Push } from "./event_stream.ts";

type Produce = (push: Push, outlet: Outlet) => Promise<void>;

/** What a stream needs to know of its request. */
export type StreamContext = Pick<RequestContext, "requestId" | "fields" | "logAfter">;

/**
 * A stream whose end is told: to the caller by `tell` where it fails once it is open, and in the
 * request's log line, which waits for it.
 */
export function logged(
  produce: Produce,
  { context, tell }: {
    context: StreamContext;
    tell: (push: Push, error: unknown) => Promise<void>;
  },
): Produce {
  const { fields } = context;
  const ended = Promise.withResolvers<void>();
  context.logAfter(ended.promise);

  return async (push, outlet) => {
    try {
      await produce(push, outlet);
    } catch (error) {
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
