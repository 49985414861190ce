import { conflict } from "../../shared/errors.ts";
import { type BeginGroup, resumedLater } from "./evaluate_route.ts";
import { type BegunRun, createAttachedRuns } from "../run/manager/attached_runs.ts";
import { keyReused } from "./route_parts.ts";
import type { RunManager } from "../run/manager/manager.ts";
import type { RunStore } from "../store/store.ts";
import { groupEventStream } from "../groups/group_events.ts";
import { stateOf } from "../groups/group_report.ts";
import { groupInDetail, type Groups } from "../groups/groups.ts";

type Wanted = Parameters<BeginGroup>[0];

/** `POST /evaluate` with several models. */
export function createEvaluateGroup(
  { store, runs, groups }: { store: RunStore; runs: RunManager; groups: Groups },
): BeginGroup {
  const attached = createAttachedRuns({ store, runs });

  async function begin({ request, testName, idempotency, targets }: Wanted) {
    const started = await runs.startGroup({
      runs: targets.map(({ endpoint, model_id, name }) => ({
        request: { ...request, endpoint, model_id },
        testName,
        name,
      })),
      idempotency,
    });
    if (started.outcome === "mismatch") throw keyReused();
    const endpointOf = (index: number) => targets[index]!.endpoint;
    if (started.outcome === "started") {
      const members = started.active.map((active, index): BegunRun => ({
        run: active.run,
        active,
        endpoint: endpointOf(index),
      }));
      return { id: started.id, members };
    }
    const members: BegunRun[] = [];
    for (const { id, group } of await groups.runs(started.id)) {
      members.push(await attached.reattach(id, endpointOf(group!.index)));
    }
    return { id: started.id, members };
  }

  return async (wanted, { client, fields }) => {
    fields.models = wanted.targets.length;
    const { id, members } = await begin(wanted);
    fields.group = id;
    const location = `/groups/${id}`;
    return {
      location,
      async detach() {
        members.forEach(attached.detach);
        return stateOf(await groups.view(id));
      },
      follow() {
        const regain = async (left: AbortSignal) =>
          (await Promise.all(members.map((begun) => attached.regain(begun, left)))).includes(true);
        const stream = groupEventStream({ groups, runs, groupId: id, client, regain });
        for (const { active } of members) active?.hold(stream.left);
        return stream;
      },
      async result() {
        const ends = await Promise.all(members.map((begun) => attached.hold(begun, client)));
        const statuses = ends.map(({ end }) => end.status);
        fields.outcome = [...new Set(statuses)].join(", ");
        const headers = { location };
        if (statuses.includes("running")) throw resumedLater(`group ${id}`, headers);
        if (statuses.includes("completed")) {
          return Response.json(groupInDetail(await groups.report(id), undefined), { headers });
        }
        const detail = `cannot answer with a result: no run of group ${id} is completed`;
        throw conflict(detail, { headers });
      },
    };
  };
}
