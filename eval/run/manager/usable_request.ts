import { AppError, type FieldError } from "../../../shared/service/errors.ts";
import { requireUsableChecks } from "../../score/planned_checks.ts";
import { referenceOf } from "../../score/references.ts";
import type { ScoringPorts } from "../../score/scoring_ports.ts";
import { ScoredBy } from "../../test/evaluate_response.ts";
import type { EndpointPolicy } from "../../ask/policy.ts";
import { batchPath, type EvaluateRequest } from "../../test/evaluate_request.ts";
import type { NewRun } from "../../store/store.ts";

interface UsableDeps {
  scoring: ScoringPorts;
  endpoints: Pick<EndpointPolicy, "requireAllowed" | "requireReachable">;
}

/** Throws 400 if the request cannot be run. The request of a retry was checked before. */
export async function requireUsable(
  { request, parentId, isRescore }: NewRun,
  { scoring, endpoints }: UsableDeps,
): Promise<void> {
  const { checks, judge } = scoring;
  if (isRescore) {
    const hasJudge = Boolean(ScoredBy.safeParse(request.scored_by).data?.judge);
    return await requireUsableChecks(request.test_batch, { checks, hasJudge });
  }
  if (parentId !== undefined) return;
  requireReferences(request);
  await requireUsableScorers(request, { scoring, endpoints });
  await requireUsableChecks(request.test_batch, { checks, hasJudge: Boolean(judge) });
}

/** Scorers must be allowed as endpoints are. Their names must differ from the built-in scores. */
async function requireUsableScorers(
  { scorers = [] }: EvaluateRequest,
  { scoring, endpoints }: UsableDeps,
): Promise<void> {
  if (scorers.length === 0) return;
  const { describeScores } = await import("../../score/scorers.ts"); // few runs have scorers
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

/** Only the first errors are listed, so that the answer stays small. */
const MOST_ERRORS = 100;

/** Histories of references need a reference for every turn but the last. */
function requireReferences({ test_batch, history }: EvaluateRequest): void {
  if (history !== "reference") return;
  const message = `is required for history "${history}": a later turn is asked after it`;
  const errors = test_batch.flatMap(({ interactions }, index): FieldError[] =>
    interactions.slice(0, -1).flatMap((interaction, turn) => {
      if (referenceOf(interaction)) return [];
      const path = `${batchPath(test_batch, index)}.interactions.${turn}.reference_reply`;
      return [{ path, message }];
    })
  );
  const [first] = errors;
  if (!first) return;
  const detail = `cannot use the history: ${first.path} ${first.message}`;
  throw new AppError(400, "invalid_request", detail, { errors: errors.slice(0, MOST_ERRORS) });
}
