import { z } from "zod";
import { AppError } from "../../shared/service/errors.ts";
import { listFieldErrors } from "../../shared/service/field_errors.ts";
import type { EvaluateRequest } from "../test/evaluate_request.ts";
import { InteractionResult } from "../test/interaction_result.ts";
import type { RunRecord, StoredRun } from "../store/run_record.ts";
import type { RunReader } from "../store/store.ts";
import { listedParts, type StoredTurn } from "../store/turn_record.ts";
import { countedHistory } from "../test/conversations.ts";
import { endpointKind } from "../ask/endpoint_address.ts";
import { allRuns } from "../store/require_run.ts";
import { UsageError } from "./command.ts";
import { findRun } from "./find_run.ts";

/** A run that was written with `--output result.json`, as far as comparing reads it. */
export interface BaselineFile {
  run: StoredRun;
  /** The same reader, which also knows this run. */
  over(reader: RunReader): RunReader;
}

/** What is read of the file; the rest of it is computed from this. */
const WrittenResult = z.looseObject({
  run_id: z.string(),
  test_name: z.string(),
  endpoint: z.string().nullable(),
  model_id: z.string(),
  results: z.object({
    scenarios: z.array(z.looseObject({
      scenario_id: z.string(),
      description: z.string().default(""),
      attempts: z.array(z.object({
        attempt_id: z.int().min(1),
        history_of: z.literal("reference").optional(),
        interactions: z.array(InteractionResult),
      })),
    })),
  }),
});

/** Reads such a file. Throws `AppError` if it is something else. */
export function parseBaselineFile(path: string, text: string): BaselineFile {
  const { results: { scenarios }, ...heading } = parse(path, text);
  const turns = scenarios.flatMap(({ attempts }, scenario) =>
    attempts.flatMap(({ attempt_id, history_of, interactions }) =>
      interactions.map((result, index): StoredTurn => ({
        scenario,
        attempt: attempt_id - 1,
        turn: index + (history_of ? 1 : 0), // the first turn is not asked that way
        result,
        tookMs: 0,
      }))
    )
  );
  const attempts = Math.max(
    1,
    ...scenarios.map((one) => one.attempts.filter(({ history_of }) => !history_of).length),
  );
  // As it was stored: a field that was the caller's own then may have a meaning by now.
  const request: EvaluateRequest = {
    ...heading,
    endpoint: heading.endpoint ?? undefined,
    attempts,
    parameters: {},
    test_batch: scenarios.map(({ scenario_id: id, attempts, ...own }) => ({
      ...own,
      id,
      interactions: longest(attempts.map(({ interactions }) => interactions)),
    })),
  };
  const run: StoredRun = {
    id: heading.run_id,
    parentId: null,
    status: "completed",
    detail: null,
    testName: heading.test_name,
    modelId: heading.model_id,
    endpoint: heading.endpoint,
    attempts,
    totalTurns: turns.length,
    createdAt: 0,
    finishedAt: 0,
    tally: null,
    batchDigest: "",
    datasetName: null,
    gate: null,
    group: null,
    request,
  };
  return { run, over: (reader) => readOver(reader, { run, turns }) };
}

function parse(path: string, text: string): z.infer<typeof WrittenResult> {
  const refuse = (why: string) =>
    new AppError(400, "invalid_request", `cannot use ${path} as baseline: ${why}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse("it is not JSON");
  }
  const result = WrittenResult.safeParse(value);
  if (result.success) return result.data;
  const [first] = listFieldErrors(result.error, value);
  throw refuse(
    `it must be the result of one run, as --output FILE.json writes it (${first?.path}: ` +
      `${first?.message})`,
  );
}

function longest<T>(lists: T[][]): T[] {
  return lists.reduce((most, list) => list.length > most.length ? list : most, []);
}

function readOver(
  reader: RunReader,
  { run, turns }: { run: StoredRun; turns: StoredTurn[] },
): RunReader {
  const is = (id: string) => id === run.id;
  const texts = turns.map(({ result, ...place }) => ({
    ...place,
    resultJson: JSON.stringify(result),
  }));
  const tally = { done: turns.length, failed: 0, missing: 0, scored: 0, mean: null, lastSeq: 0 };
  return {
    ...reader,
    getRun: (id) => is(id) ? Promise.resolve(run) : reader.getRun(id),
    getRecord: (id) => is(id) ? Promise.resolve(run) : reader.getRecord(id),
    tally: (id) => is(id) ? Promise.resolve(tally) : reader.tally(id),
    async *turns(id) {
      yield* is(id) ? turns : reader.turns(id);
    },
    async *turnPages(id) {
      if (!is(id)) yield* reader.turnPages(id);
      else if (texts.length > 0) yield texts;
    },
    async conversation(id, end, limit) {
      if (!is(id)) return await reader.conversation(id, end, limit);
      const { scenario, attempt, turn: last } = end;
      return texts
        .filter((one) => one.scenario === scenario && one.attempt === attempt && one.turn <= last)
        .slice(-limit)
        .map((one) => ({ ...one, seq: 0, ...listedParts(JSON.parse(one.resultJson)) }));
    },
  };
}

/** The run that is about to be compared with a baseline. */
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
  return testName === candidate.testName || batchDigest === candidate.batchDigest;
}

/** An endpoint of unknown kind matches any. A run of a part of the batch (`--only`) never does. */
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
