import type { EvaluateRequest } from "../../schemas/evaluate_request.ts";
import type { NamedTarget } from "../../schemas/targets.ts";
import { digestBatch } from "../../store/runs/batch_digest.ts";
import type { CliContext } from "../context.ts";
import { followGroup } from "../report/follow_group.ts";
import { findBaseline, type PassCriteria } from "../pass_criteria.ts";

/** A batch and the models that run it. The request is that of the first one. */
interface GroupPlan {
  request: EvaluateRequest;
  targets: NamedTarget[];
  testName: string;
}

/** Runs a batch with several models, and compares them. */
export async function runGroup(
  { request, targets, testName }: GroupPlan,
  wanted: PassCriteria,
  context: CliContext,
): Promise<number> {
  const runs = targets.map(({ endpoint, model_id, name }) => ({
    request: { ...request, endpoint, model_id },
    testName,
    name,
  }));
  for (const run of runs) context.requireAllowed(run.request);
  await using store = await context.openStore({ isForRuns: true });
  const candidate = { request, testName, batchDigest: await digestBatch(request.test_batch) };
  const criteria = await findBaseline(wanted, { reader: store, candidate, context });
  const manager = await context.createManager(store, criteria.concurrency);
  const started = await manager.startGroup({ runs });
  if (started.outcome !== "started") {
    throw new Error("a group without an idempotency key already exists");
  }
  const { id, active } = started;
  context.err.write(`group ${id}\n`);
  return await followGroup(id, { active, criteria, manager, store, context });
}
