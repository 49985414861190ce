import { AppError } from "../../../shared/errors.ts";
import type { EvaluateRequest } from "../../schemas/evaluate_request.ts";
import type { EndpointPolicy } from "../../endpoint/policy.ts";
import { requireUsableChecks } from "../../assess/checks/usable_checks.ts";
import { describeScoring } from "../../assess/describe_scoring.ts";
import type { ScoringPorts } from "../../assess/scoring_ports.ts";
import { removeQuery } from "../../store/runs/lists/endpoint_query.ts";
import type { StoredRun } from "../../store/runs/run_record.ts";
import type { CreatedGroup, CreatedRun, NewGroup, NewRun, RunStore } from "../../store/store.ts";
import { requireReferences } from "../execute/reference_history.ts";
import type { SharedRuns } from "./shared_runs.ts";

/** Stores runs before they start. Throws 400 if their batch cannot be used. */
interface NewRuns {
  create(run: NewRun): Promise<CreatedRun>;
  createGroup(group: NewGroup): Promise<CreatedGroup>;
}

interface NewRunsOptions {
  store: RunStore;
  scoring: ScoringPorts;
  endpoints: Pick<EndpointPolicy, "requireAllowed" | "requireReachable">;
  shared: SharedRuns;
  /** Gets the endpoints with their queries, which are not stored. */
  addresses: Map<string, string>;
}

export function createNewRuns(
  { store, scoring, endpoints, shared, addresses }: NewRunsOptions,
): NewRuns {
  /** Scorers are guarded as endpoints are, and their scores have names of their own. */
  async function requireUsableScorers({ scorers = [] }: EvaluateRequest): Promise<void> {
    if (scorers.length === 0) return;
    const { describeScores } = await import("../../assess/scores/scorers.ts"); // few runs have some
    const taken = new Set(describeScores(scoring).map(({ name }) => name));
    for (const [index, { name, url }] of scorers.entries()) {
      endpoints.requireAllowed(url);
      await endpoints.requireReachable(url);
      if (!taken.has(name)) continue;
      throw new AppError(400, "invalid_request", `cannot use the scorer ${name}`, {
        errors: [{ path: `scorers.${index}.name`, message: "is the name of a built-in score" }],
      });
    }
  }

  async function requireUsable({ request, parentId }: NewRun): Promise<void> {
    if (parentId !== undefined) return;
    requireReferences(request);
    await requireUsableScorers(request);
    const { checks, judge } = scoring;
    await requireUsableChecks(request.test_batch, { checks, hasJudge: Boolean(judge) });
  }

  const isReserved = ({ request: { endpoint } }: NewRun) =>
    shared.isExclusive({ hasQuery: removeQuery(endpoint) !== endpoint });

  /** A retry keeps its parent's scoring, because it contains turns of both runs. */
  function complete<R extends NewRun>(run: R): R {
    const completed = { ...run, isReserved: isReserved(run) };
    if (run.parentId !== undefined) return completed;
    return { ...completed, request: { ...run.request, scored_by: describeScoring(scoring) } };
  }

  /** Notes what is known only here about a run that was stored. */
  function register(run: NewRun, stored: StoredRun): void {
    if (stored.queryRemoved) addresses.set(stored.id, run.request.endpoint);
    if (isReserved(run)) shared.reserve(stored.id);
    shared.watch();
  }

  return {
    async create(run) {
      await requireUsable(run);
      const created = await store.createRun(complete(run));
      if (created.outcome === "created") register(run, created.run);
      return created;
    },
    async createGroup({ runs, idempotency }) {
      await requireUsable(runs[0]!); // all have the same batch
      const created = await store.createGroup({
        runs: runs.map(complete),
        ...(idempotency && { idempotency }),
      });
      if (created.outcome === "created") {
        for (const [index, run] of created.runs.entries()) register(runs[index]!, run);
      }
      return created;
    },
  };
}
