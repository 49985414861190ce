import { invalidParameter, notFound } from "../../shared/service/errors.ts";
import { endpointKind } from "../ask/endpoint_address.ts";
import { allRuns, requireRun } from "../store/require_run.ts";
import type { RunRecord } from "../store/run_record.ts";
import type { RunReader } from "../store/store.ts";
import type { EvaluateRequest } from "../test/evaluate_request.ts";
import { readScores } from "../figures/turn_scores.ts";

/** The run that is to be compared with a baseline. */
export interface Candidate {
  /** Of a run that exists already. */
  id?: string;
  testName: string;
  batchDigest: string;
  request: Pick<EvaluateRequest, "endpoint" | "protocol" | "history">;
}

/** A run with a larger share of failed calls says little about its model. */
const MOST_FAILED = 0.1;

/**
 * The id of the run that a baseline names: an id, `tag:NAME`, or `latest`, the last healthy run of
 * the same test. Throws 404 if there is none, and 400 if it lacks the score that decides.
 */
export async function findBaseline(
  reader: RunReader,
  { name, candidate, decideBy }: {
    name: string;
    candidate: Candidate;
    decideBy: string | undefined;
  },
): Promise<string> {
  const id = name === "latest"
    ? await findLatest(reader, candidate)
    : (await requireRun(reader, name)).id;
  if (id === candidate.id) throw notFound("a run cannot be its own baseline");
  if (decideBy === undefined) return id;
  const { names } = await readScores(reader.turns(id));
  if (names.has(decideBy)) return id;
  const list = [...names].join(", ");
  throw invalidParameter("decide_by", `the baseline has no score ${decideBy}; it has ${list}`);
}

async function findLatest(reader: RunReader, candidate: Candidate): Promise<string> {
  for await (const run of allRuns(reader, { status: "completed" })) {
    const isLater = candidate.id !== undefined && run.id >= candidate.id; // ids grow with time
    if (isLater || !isHealthy(run) || run.gate === "failed" || !isSameTest(run, candidate)) {
      continue;
    }
    if (await isSameKind(reader, run.id, candidate)) return run.id;
  }
  throw notFound(
    `no baseline: there is no completed run of test "${candidate.testName}" or of the same batch ` +
      `that did not fail, with at most ${MOST_FAILED * 100} % failed calls, an endpoint of the ` +
      "same kind and the same history",
  );
}

function isHealthy({ tally, totalTurns }: RunRecord): boolean {
  return tally !== null && tally.done === totalTurns && tally.failed <= MOST_FAILED * totalTurns;
}

function isSameTest({ testName, batchDigest }: RunRecord, candidate: Candidate): boolean {
  return testName === candidate.testName || batchDigest === candidate.batchDigest;
}

/** An endpoint of unknown kind matches any. A run of a part of the batch (`only`) never does. */
async function isSameKind(reader: RunReader, id: string, { request }: Candidate): Promise<boolean> {
  const run = await reader.getRun(id);
  const historyOf = ({ history = "generated" }: Candidate["request"]) => history;
  if (!run || run.request.only !== undefined) return false;
  if (historyOf(run.request) !== historyOf(request)) return false;
  const wanted = endpointKind(request);
  const found = endpointKind(run.request);
  return !wanted || !found || wanted === found;
}
