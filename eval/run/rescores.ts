import { conflict, invalidField } from "../../shared/service/errors.ts";
import { ProviderError } from "../../shared/providers/provider.ts";
import { checksOf } from "../score/planned_checks.ts";
import { describeScoring, type ScoringPorts } from "../score/scoring_ports.ts";
import type { Check } from "../test/check_kinds.ts";
import type { EvaluateRequest } from "../test/evaluate_request.ts";
import { ScoredBy } from "../test/evaluate_response.ts";
import type { StoredRun } from "../store/run_record.ts";
import type { NewRun } from "../store/store.ts";
import type { RunManager } from "./manager.ts";

// A rescore is a run that scores the replies of another one by another measure.

/** What the measure of a run is changed to. */
interface MeasureInput {
  rubric?: string | undefined;
  judge?: string | undefined;
  judge_votes?: number | undefined;
  checks?: Check[] | undefined;
}

/** By what the replies of a run are scored, each part as text that can be compared. */
function measureOf(
  { rubric, judge_votes = 1, scored_by, test_batch }: EvaluateRequest,
): Record<string, string | null> {
  const { judge = null, embeddings = null } = ScoredBy.safeParse(scored_by).data ?? {};
  const checks = test_batch.map((scenario) =>
    scenario.interactions.map((_, turn) => checksOf(scenario, turn).map(({ check }) => check))
  );
  return {
    judge,
    rubric: judge === null ? null : rubric ?? null,
    judge_votes: judge === null ? null : String(judge_votes),
    checks: JSON.stringify(checks),
    embeddings,
  };
}

/** The parts in which two measures differ. */
export function measureDifference(one: EvaluateRequest, other: EvaluateRequest): string[] {
  const [before, after] = [measureOf(one), measureOf(other)];
  return Object.keys(before).filter((part) => before[part] !== after[part]);
}

/**
 * The rescore of a run, to be started. Throws 409 if the run has not all of its replies, 400 if
 * nothing changes or the judge does not answer.
 */
export async function planRescore(
  parent: StoredRun,
  change: MeasureInput,
  { runs, scoring, client }: {
    runs: Pick<RunManager, "isRunning">;
    scoring: ScoringPorts;
    client: AbortSignal;
  },
): Promise<NewRun> {
  const { id: parentId, testName } = parent;
  requireReplies(parent, runs);
  const current = describeScoring(scoring);
  const before = ScoredBy.safeParse(parent.request.scored_by).data ?? current;
  const needsJudge = change.rubric !== undefined || change.judge_votes !== undefined ||
    change.checks?.some(({ type }) => type === "judge");
  const judge = change.judge ?? before.judge ?? (needsJudge ? current.judge : null);
  const request: EvaluateRequest = {
    ...parent.request,
    ...(change.rubric !== undefined && { rubric: change.rubric }),
    ...(change.judge_votes !== undefined && { judge_votes: change.judge_votes }),
    ...(change.checks && {
      test_batch: parent.request.test_batch.map(({ checks: _, ...scenario }) => ({
        ...scenario,
        ...(change.checks!.length > 0 && { checks: change.checks }),
      })) as EvaluateRequest["test_batch"],
    }),
    scored_by: { judge, embeddings: current.embeddings },
  };
  if (needsJudge && judge === null) throw noJudge();
  const rescored = measureDifference(parent.request, request);
  if (rescored.length === 0) {
    throw conflict(
      `cannot score run ${parentId} again: nothing differs from its measure; send another rubric, ` +
        "judge, judge_votes or checks",
    );
  }
  if (needsJudge || change.judge !== undefined) await requireJudge(judge!, { scoring, client });
  return { request: { ...request, rescored }, testName, parentId, isRescore: true };
}

/** 409 for a run that does not have all of its replies. */
function requireReplies(run: StoredRun, runs: Pick<RunManager, "isRunning">): void {
  const refuse = (reason: string) => conflict(`cannot score run ${run.id} again: ${reason}`);
  if (runs.isRunning(run)) throw refuse("it is running; wait for its end");
  if (run.status === "completed") return;
  const { done } = run.tally ?? { done: 0 };
  throw refuse(
    `it is ${run.status} with ${done} of ${run.totalTurns} replies; retry it first ` +
      `(POST /runs/${run.id}/retry), and score that run again`,
  );
}

/** Asks the judge one question: if it is gone, no run is stored for it. */
async function requireJudge(
  name: string,
  { scoring, client }: { scoring: ScoringPorts; client: AbortSignal },
): Promise<void> {
  const { judge: configured, judgeNamed } = scoring;
  const judge = name === configured?.name ? configured : judgeNamed?.(name);
  if (!judge) throw noJudge();
  try {
    await judge.ask({
      name: "ready",
      messages: [{ role: "user", content: 'Answer with {"ready": true}.' }],
      schema: {
        type: "object",
        properties: { ready: { type: "boolean" } },
        required: ["ready"],
        additionalProperties: false,
      },
    }, client);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    throw invalidField("judge", `${error.message}; name another model with judge`);
  }
}

function noJudge() {
  return invalidField("judge", "no judge is configured: set JUDGE_BASE_URL and JUDGE_MODEL");
}
