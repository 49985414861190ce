import { conflict } from "../../shared/errors.ts";
import { wantsEvents } from "../../shared/http/router/headers.ts";
import type { EndpointPolicy } from "../endpoint/policy.ts";
import { type AnswerGroup, prefersAsync, resumedLater } from "./evaluate_route.ts";
import { type BegunRun, createAttachedRuns } from "../run/manager/attached_runs.ts";
import { keyReused, readIdempotencyKey } from "./idempotency_key.ts";
import type { RunManager } from "../run/manager/manager.ts";
import { logStreamEnd } from "../run/events/client_stream.ts";
import { nameBatch } from "../store/runs/batch_digest.ts";
import type { RunStore } from "../store/store.ts";
import { groupEventStream } from "../groups/group_events.ts";
import { stateOf } from "../groups/group_views.ts";
import { groupInDetail, type Groups } from "../groups/groups.ts";

interface EvaluateGroupDeps {
  endpoints: EndpointPolicy;
  store: RunStore;
  runs: RunManager;
  groups: Groups;
}

/** The runs of a group that a request has begun or found. */
interface BegunGroup {
  id: string;
  members: BegunRun[];
}

type Read = Parameters<AnswerGroup>[1];

/** `POST /evaluate` with several models: the same choice of answers as for one. */
export function createEvaluateGroup(
  { endpoints, store, runs, groups }: EvaluateGroupDeps,
): AnswerGroup {
  const attached = createAttachedRuns({ store, runs });

  async function begin(request: Request, { read, context }: Read): Promise<BegunGroup> {
    const { request: first, sent, dataset, targets } = read;
    const idempotency = readIdempotencyKey(request, { context, body: sent });
    const testName = first.test_name ?? dataset ?? nameBatch(first.test_batch);
    const started = await runs.startGroup({
      runs: targets.map(({ endpoint, model_id, name }) => ({
        request: { ...first, endpoint, model_id },
        testName,
        name,
      })),
      idempotency,
    });
    if (started.outcome === "mismatch") throw keyReused();
    const endpointOf = (index: number) => targets[index]!.endpoint;
    if (started.outcome === "started") {
      const members = started.active.map((active, index) => ({
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

  return async (request, { read, context }) => {
    for (const endpoint of new Set(read.targets.map(({ endpoint }) => endpoint))) {
      endpoints.requireAllowed(endpoint);
      await endpoints.requireReachable(endpoint);
    }
    context.fields.models = read.targets.length;
    const { id, members } = await begin(request, { read, context });
    context.fields.group = id;
    const location = `/groups/${id}`;

    if (prefersAsync(request)) {
      members.forEach(attached.detach);
      return Response.json(stateOf(await groups.view(id)), {
        status: 202,
        headers: { location, "preference-applied": "respond-async" },
      });
    }
    if (wantsEvents(request)) {
      const regain = async (left: AbortSignal) =>
        (await Promise.all(members.map((begun) => attached.regain(begun, left)))).includes(true);
      const stream = groupEventStream({
        groups,
        runs,
        groupId: id,
        client: request.signal,
        regain,
      });
      for (const { active } of members) active?.hold(stream.left);
      logStreamEnd(stream, { context });
      stream.response.headers.set("location", location);
      return stream.response;
    }
    const ends = await Promise.all(members.map((begun) => attached.hold(begun, request.signal)));
    const statuses = ends.map(({ end }) => end.status);
    context.fields.outcome = [...new Set(statuses)].join(", ");
    if (statuses.includes("completed") && !statuses.includes("running")) {
      return Response.json(groupInDetail(await groups.report(id), undefined), {
        headers: { location },
      });
    }
    if (statuses.includes("running")) throw resumedLater(`group ${id}`, { location });
    const detail = `cannot answer with a result: no run of group ${id} is completed`;
    throw conflict(detail, { headers: { location } });
  };
}
