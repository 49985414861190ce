import { AppError, type FieldError, invalidField } from "../../../shared/service/errors.ts";
import { counted } from "../../../shared/service/text.ts";
import { batchPath, type EvaluateRequest, type GivenReply } from "../evaluate_request.ts";
import type { Scenario } from "../scenario.ts";

/** Only the first errors are listed, so that the answer stays small. */
const MOST_ERRORS = 100;

/** A reply and where the request has it, for messages. */
type SentReply = GivenReply & { path: string };

/**
 * A request without an endpoint as it is stored: the replies are taken out of its batch, each with
 * its positions, and scenarios that differ in nothing else become attempts at one. Other requests
 * stay as they are. Throws 400 if an interaction has no reply.
 */
export function takeReplies(
  { rescored: _, ...request }: EvaluateRequest, // only the service sets it
  { maxAttempts }: { maxAttempts: number },
): EvaluateRequest {
  if (request.endpoint !== undefined) {
    if (!request.replies) return request;
    throw invalidField("replies", "must not be sent together with endpoint");
  }
  const { attempts, history } = request;
  if (history !== undefined && history !== "generated") {
    throw invalidField("history", `cannot be ${history} without an endpoint: nobody is asked`);
  }
  const sent = request.replies?.map((reply, index) => ({ ...reply, path: `replies.${index}` }));
  const { scenarios, replies } = sent
    ? { scenarios: request.test_batch, replies: sent }
    : readBatch(request.test_batch);
  const placed = place(replies, scenarios);
  const found = placed.reduce((most, { attempt_id }) => Math.max(most, attempt_id), 1);
  if (found > maxAttempts) {
    throw invalidField(
      sent ? "replies" : "test_batch",
      `has ${found} attempts; the most are ${maxAttempts} (EVAL_MAX_ATTEMPTS)`,
    );
  }
  if (attempts !== 1 && attempts !== found) {
    throw invalidField(
      "attempts",
      `is ${attempts}, but there are replies of ${found}; leave it out`,
    );
  }
  requireAll(placed, { request, scenarios, attempts: found });
  const test_batch = scenarios.map(({ interactions, ...scenario }) => ({
    ...scenario,
    interactions: interactions.map((turn) => ({ ...turn, agent_reply: "" })),
  })) as Scenario[];
  return {
    ...request,
    test_batch,
    attempts: found,
    replies: placed.map(({ scenario, attempt_id, turn, agent_reply }) => ({
      scenario,
      attempt_id,
      turn,
      agent_reply,
    })),
  };
}

/** The scenarios of a batch that has the replies in itself. */
function readBatch(batch: Scenario[]): { scenarios: Scenario[]; replies: SentReply[] } {
  const byContent = new Map<string, number>();
  const scenarios: Scenario[] = [];
  const replies: SentReply[] = [];
  for (const [index, { attempt_id, ...scenario }] of batch.entries()) {
    const asked = scenario.interactions.map((
      { agent_reply: _, generated_metadata: __, ...turn },
    ) => turn);
    const content = JSON.stringify({ ...scenario, interactions: asked });
    const position = byContent.getOrInsertComputed(content, () => scenarios.push(scenario) - 1);
    for (const [turn, { agent_reply }] of scenario.interactions.entries()) {
      const path = `${batchPath(batch, index)}.interactions.${turn}.agent_reply`;
      const own = typeof attempt_id === "number" ? { attempt_id } : {};
      replies.push({ scenario: position, turn, agent_reply, ...own, path });
    }
  }
  return { scenarios, replies };
}

interface PlacedReply {
  scenario: number;
  attempt_id: number;
  turn: number;
  agent_reply: string;
  path: string;
}

/** Finds the turn of each reply. */
function place(replies: SentReply[], scenarios: Scenario[]): PlacedReply[] {
  const byId = new Map<string, number>();
  for (const [index, { id }] of scenarios.entries()) if (!byId.has(id)) byId.set(id, index);
  const taken = new Map<string, string>();
  const errors: FieldError[] = [];
  const placed = replies.flatMap((reply): PlacedReply[] => {
    const { path, agent_reply } = reply;
    const refuse = (field: string, message: string) => {
      errors.push({ path: `${path}.${field}`, message });
      return [];
    };
    const scenario = reply.scenario ?? byId.get(reply.scenario_id ?? "");
    if (scenario === undefined || !scenarios[scenario]) {
      return reply.scenario_id === undefined
        ? refuse("scenario_id", "is missing, or scenario is no position in the batch")
        : refuse("scenario_id", `no scenario of the batch has the id "${reply.scenario_id}"`);
    }
    const { interactions } = scenarios[scenario];
    const turn = turnOf(reply, interactions);
    if (turn === undefined || !interactions[turn]) {
      return refuse(
        reply.interaction_id === undefined ? "turn" : "interaction_id",
        `names no turn of scenario "${scenarios[scenario].id}", which has ${
          counted(interactions.length, "turn")
        }`,
      );
    }
    if (agent_reply.trim() === "") return []; // counted as missing
    const at = (attempt: number) => `${scenario}/${attempt}/${turn}`;
    let attempt_id = reply.attempt_id ?? 1;
    if (reply.attempt_id === undefined) { while (taken.has(at(attempt_id))) attempt_id++; }
    const other = taken.get(at(attempt_id));
    if (other !== undefined) return refuse("attempt_id", `is a second reply beside ${other}`);
    taken.set(at(attempt_id), path);
    return [{ scenario, attempt_id, turn, agent_reply, path }];
  });
  if (errors.length > 0) throw unusable(errors);
  return placed;
}

/** The only turn needs no name. */
function turnOf(
  { turn, interaction_id }: GivenReply,
  interactions: Scenario["interactions"],
): number | undefined {
  if (turn !== undefined) return turn;
  if (interaction_id === undefined) return interactions.length === 1 ? 0 : undefined;
  const found = interactions.findIndex(({ id }) => id === interaction_id);
  return found < 0 ? undefined : found;
}

/** Throws 400 with the interactions that have no reply. */
function requireAll(
  placed: PlacedReply[],
  { request, scenarios, attempts }: {
    request: EvaluateRequest;
    scenarios: Scenario[];
    attempts: number;
  },
): void {
  const total = scenarios.reduce((sum, { interactions }) => sum + interactions.length, 0) *
    attempts;
  if (placed.length === total) return;
  if (placed.length === 0 && !request.replies) {
    throw invalidField("endpoint", "is missing, and no interaction has an agent_reply");
  }
  const found = new Set(
    placed.map(({ scenario, attempt_id, turn }) => `${scenario}/${attempt_id}/${turn}`),
  );
  const errors: FieldError[] = [];
  for (const [scenario, { id, interactions }] of scenarios.entries()) {
    for (let attempt = 1; attempt <= attempts; attempt++) {
      for (const turn of interactions.keys()) {
        if (errors.length >= MOST_ERRORS || found.has(`${scenario}/${attempt}/${turn}`)) continue;
        const which = attempts > 1 ? `, attempt ${attempt}` : "";
        errors.push({
          path: request.replies ? "replies" : "test_batch",
          message: `scenario "${id}"${which}, turn ${turn} has no agent_reply`,
        });
      }
    }
  }
  const missing = total - placed.length;
  throw unusable(
    errors,
    `${missing} of ${counted(total, "interaction")} ${
      missing === 1 ? "has" : "have"
    } no reply, and there is no endpoint to ask: ${errors[0]!.message}`,
  );
}

function unusable(errors: FieldError[], reason?: string): AppError {
  const [{ path, message }] = errors as [FieldError];
  const detail = `cannot score existing replies: ${reason ?? `${path}: ${message}`}`;
  return new AppError(400, "invalid_request", detail, { errors: errors.slice(0, MOST_ERRORS) });
}
