import { z } from "zod";
import { withoutQuery } from "../endpoint/endpoint_address.ts";
import { notFound } from "../../shared/errors.ts";
import { countedHistory } from "../schemas/conversations.ts";
import type { EvaluateRequest } from "../schemas/evaluate_request.ts";
import { ScoredBy } from "../schemas/evaluate_response.ts";
import type { RunRecord, StoredRun } from "../store/runs/run_record.ts";
import type { RunReader } from "../store/store.ts";
import { turnsSoFar } from "../store/turns/whole_reader.ts";
import { type CompareOptions, compareRuns } from "./compare.ts";
import { Comparison } from "./comparison.ts";
import type { ComparableRun } from "./paired_runs.ts";

/** A run in a comparison. */
export const ComparedRun = z.object({
  run_id: z.string(),
  test_name: z.string(),
  model_id: z.string(),
  name: z.string().optional().meta({ description: "What its group calls the model." }),
  endpoint: z.string(),
  attempts: z.number(),
  /** Unfinished runs are compared as far as they have come. */
  status: z.string(),
  /** Only of a run whose turns were asked after the references. */
  history: z.literal("reference").optional(),
  /** `name@version`, if the run named a dataset. */
  dataset: z.string().optional(),
}).meta({ id: "ComparedRun" });
export type ComparedRun = z.infer<typeof ComparedRun>;

/** A comparison with its two runs. */
export const StoredComparison = Comparison.extend({
  baseline: ComparedRun,
  candidate: ComparedRun,
}).meta({ id: "StoredComparison" });
export type StoredComparison = z.infer<typeof StoredComparison>;

/** Compares two stored runs. Throws 404 if there is no such run. */
export async function compareStored(
  reader: RunReader,
  ids: { baseline: string; candidate: string },
  options: CompareOptions = {},
): Promise<StoredComparison> {
  const { runs, stored } = await comparableRuns(reader, ids);
  const comparison = await compareRuns(runs, options);
  const { baseline, candidate } = stored;
  return { baseline: describe(baseline), candidate: describe(candidate), ...comparison };
}

/** Opens two stored runs for comparing. Throws 404 if one is missing. */
export async function comparableRuns(
  reader: RunReader,
  ids: { baseline: string; candidate: string },
) {
  const baseline = await requireCompared(reader, ids.baseline);
  const candidate = await requireCompared(reader, ids.candidate);
  return {
    stored: { baseline, candidate },
    runs: {
      baseline: toComparable(baseline, reader),
      candidate: toComparable(candidate, reader),
    },
  };
}

/** The fields of a request that comparing reads. */
type ComparedRequest =
  & Pick<EvaluateRequest, "test_batch" | "rubric" | "history">
  & { scored_by?: unknown };

/** Opens a stored run for comparing. */
export function toComparable(
  run: RunRecord & { request: ComparedRequest },
  reader: RunReader,
): ComparableRun {
  const { test_batch: scenarios, rubric } = run.request;
  return {
    scenarios,
    rubric,
    scoredBy: ScoredBy.safeParse(run.request.scored_by).data,
    history: countedHistory(run.request),
    turns: turnsSoFar(reader, run),
  };
}

async function requireCompared(reader: RunReader, id: string): Promise<StoredRun> {
  const run = await reader.getRun(id);
  if (run) return run;
  throw notFound(`cannot compare run "${id}": there is no such run`);
}

function describe(run: StoredRun): ComparedRun {
  return {
    run_id: run.id,
    test_name: run.testName,
    model_id: run.modelId,
    ...(run.group && { name: run.group.name }),
    endpoint: withoutQuery(run.endpoint),
    attempts: run.attempts,
    status: run.status,
    ...(countedHistory(run.request) === "reference" && { history: "reference" }),
    ...(run.request.dataset !== undefined && { dataset: run.request.dataset }),
  };
}
