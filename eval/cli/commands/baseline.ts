import { countedHistory } from "../../schemas/conversations.ts";
import type { EvaluateRequest } from "../../schemas/evaluate_request.ts";
import { endpointKind } from "../../endpoint/endpoint_address.ts";
import { allRuns } from "../../store/runs/lists/all_runs.ts";
import type { RunRecord } from "../../store/runs/run_record.ts";
import type { RunReader } from "../../store/store.ts";
import { UsageError } from "../command.ts";
import { findRun } from "../find_run.ts";

/** The run that is about to be compared with a baseline. */
export interface Candidate {
  /** Of a run that exists already. */
  id?: string;
  testName: string;
  batchDigest: string | null;
  request: Pick<EvaluateRequest, "endpoint" | "protocol" | "history">;
}

/** A run with a larger share of failed calls says little about its model. */
const MOST_FAILED = 0.1;

/**
 * The run that `--baseline` names: an id, `tag:NAME`, or `latest`. Throws `UsageError` if there is
 * none.
 */
export async function findBaselineRun(
  reader: RunReader,
  { name, candidate }: { name: string; candidate: Candidate },
): Promise<string> {
  if (name !== "latest") {
    const { id } = await findRun(reader, name);
    if (id === candidate.id) throw new UsageError("a run cannot be its own baseline");
    return id;
  }
  for await (const run of allRuns(reader, { status: "completed" })) {
    const isLater = candidate.id !== undefined && run.id >= candidate.id; // ids grow with time
    if (isLater || !isHealthy(run) || run.gate === "failed" || !isSameTest(run, candidate)) {
      continue;
    }
    if (await isSameKind(reader, run.id, candidate)) return run.id;
  }
  throw new UsageError(
    `no baseline: there is no completed run of test "${candidate.testName}" or of the same batch ` +
      `that did not fail, with at most ${MOST_FAILED * 100} % failed calls, an endpoint of the ` +
      "same kind and the same history",
  );
}

function isHealthy({ tally, totalTurns }: RunRecord): boolean {
  return tally !== null && tally.done === totalTurns && tally.failed <= MOST_FAILED * totalTurns;
}

function isSameTest({ testName, batchDigest }: RunRecord, candidate: Candidate): boolean {
  return testName === candidate.testName ||
    (batchDigest !== null && batchDigest === candidate.batchDigest);
}

/** An address that tells no kind may be of any. A part of a batch (`--only`) is not the test. */
async function isSameKind(reader: RunReader, id: string, { request }: Candidate): Promise<boolean> {
  const run = await reader.getRun(id);
  if (
    !run || run.request.only !== undefined ||
    countedHistory(run.request) !== countedHistory(request)
  ) return false;
  const wanted = endpointKind(request);
  const found = endpointKind(run.request);
  return !wanted || !found || wanted === found;
}
