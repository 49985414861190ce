import { z } from "zod";
import { RunStatus } from "../../run/events/view.ts";

/** A group that was started or ended by the request. */
export const GroupState = z.object({
  group_id: z.string(),
  status: RunStatus,
  models: z.array(
    z.object({ run_id: z.string(), name: z.string(), status: RunStatus })
      .meta({ id: "GroupRunState" }),
  ),
}).meta({ id: "GroupState" });

/** What the events of a group are. */
export const GROUP_EVENTS = "`progress` with the progress of each model; then `result` with the " +
  "group as `GET /groups/{id}` answers it, `ended` if no run has completed, or `stopping` if the " +
  "service stops: reconnect then.";
