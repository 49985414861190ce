import { conflict } from "../../shared/service/errors.ts";
import { type BeginGroup, continueInterrupted, resumedLater } from "./evaluate_route.ts";
import { keyReused } from "./route_parts.ts";
import type { RunManager } from "../run/manager.ts";
import type { RunStore } from "../store/store.ts";
import { type Comparer, comparisonInDetail } from "../figures/compare_stored.ts";
import { groupEventStream } from "./group_events.ts";

type Wanted = Parameters<BeginGroup>[0];

/** `POST /evaluate` with several models. */
export function createEvaluateGroup(
  { store, runs, comparer }: { store: RunStore; runs: RunManager; comparer: Comparer },
): BeginGroup {
  async function begin({ request, testName, idempotency, targets }: Wanted): Promise<string> {
    const started = await runs.startGroup({
      runs: targets.map(({ name, ...target }) => ({
        request: { ...request, ...target },
        testName,
        name,
      })),
      idempotency,
    });
    if (started.outcome === "mismatch") throw keyReused();
    if (started.outcome === "known") {
      for (const { id } of await comparer.runs({ group: started.id })) {
        await continueInterrupted(id, { store, runs });
      }
    }
    return started.id;
  }

  return async (wanted, { client, fields }) => {
    fields.models = wanted.targets.length;
    const id = await begin(wanted);
    fields.group = id;
    const location = `/compare?group=${id}`;
    return {
      location,
      state: () => comparer.state(id),
      follow: () => groupEventStream({ comparer, runs, groupId: id, client }),
      async result() {
        const members = await comparer.runs({ group: id });
        const ends = await Promise.all(members.map((run) => runs.end(run.id, client)));
        const statuses = ends.map(({ status }) => status);
        fields.outcome = [...new Set(statuses)].join(", ");
        const headers = { location };
        if (statuses.includes("running")) throw resumedLater(`group ${id}`, headers);
        if (statuses.includes("completed")) {
          const comparison = await comparer.compare({ group: id });
          return Response.json(comparisonInDetail(comparison, undefined), { headers });
        }
        const detail = `cannot answer with a result: no run of group ${id} is completed`;
        throw conflict(detail, { headers });
      },
    };
  };
}
