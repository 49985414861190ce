import type { ModelParameters, Protocol } from "../shared/schemas/evaluate.ts";
import { ProviderError } from "../shared/providers/provider.ts";
import type { Target, TargetReply, Turn } from "./runner.ts";

/** One way to ask one address. */
export interface Dialect {
  /** Where it asks, for messages to people. */
  readonly address: string;
  ask(conversation: Turn[], signal: AbortSignal): Promise<TargetReply>;
}

/** Makes the two dialects; what they send beside the conversation is theirs to know. */
export interface Dialects {
  /** OpenAI's, at `{baseUrl}/chat/completions`. */
  openai(baseUrl: string): Dialect;
  /** The agent backend's (spec 4.2), at the address as it is. */
  agent(url: string): Dialect;
}

export interface TargetOptions {
  endpoint: string;
  protocol: Protocol | undefined;
  parameters: ModelParameters;
  dialects: Dialects;
}

/** Where OpenAI-compatible servers take conversations, below their base. */
export const COMPLETIONS_PATH = "/chat/completions";

/**
 * The endpoint of one run. The first call finds out which dialect it speaks, while all others wait
 * for it; what answered is remembered. An endpoint that was busy or failing has not answered: those
 * who waited ask as the first one did, and the next one looks again. Where that call shows that
 * nobody can be asked at all, every other call fails with the same error and the endpoint hears no
 * more of them.
 */
export function createTarget(options: TargetOptions): Target {
  const candidates = listCandidates(options);
  let found: Promise<Dialect> | undefined;

  return {
    async ask(conversation, signal) {
      if (found) return (await found).ask(conversation, signal);
      const first = probe(candidates, (dialect) => dialect.ask(conversation, signal));
      found = first.then(({ dialect }) => dialect);
      found.catch(() => {}); // each asker sees it for itself
      const { outcome, isSettled } = await first;
      if (!isSettled) found = undefined;
      return await outcome;
    },
  };
}

/**
 * Asks the candidates in order until one does not say 404 or 405. `outcome` is that one's answer,
 * which may be a failure of its own. Rejects when the endpoint cannot be asked at all.
 */
async function probe(
  candidates: Dialect[],
  ask: (dialect: Dialect) => Promise<TargetReply>,
): Promise<{ dialect: Dialect; outcome: Promise<TargetReply>; isSettled: boolean }> {
  for (const dialect of candidates) {
    const outcome = ask(dialect);
    const error = await outcome.then(() => undefined, (error) => error);
    if (isWrongAddress(error)) continue;
    if (isDead(error)) throw error;
    return { dialect, outcome, isSettled: candidates.length === 1 || !isPassing(error) };
  }
  const tried = candidates.map((dialect) => dialect.address).join(", ");
  throw new ProviderError(
    404,
    "model_not_found",
    `cannot ask the endpoint: it knows no chat route or not this model (tried ${tried})`,
    { kind: "status", status: 404 },
  );
}

function isWrongAddress(error: unknown): boolean {
  if (!(error instanceof ProviderError) || error.failure.kind !== "status") return false;
  return error.failure.status === 404 || error.failure.status === 405;
}

/** Says nothing of the address: whatever stands in front of the model may have said it. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ProviderError) || error.failure.kind !== "status") return false;
  const { status } = error.failure;
  return status === 408 || status === 429 || status >= 500;
}

function isDead(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  const { failure } = error;
  return failure.kind === "unreachable" ||
    (failure.kind === "status" && (failure.status === 401 || failure.status === 403));
}

/** The forms in which callers name an endpoint, most likely first. */
function listCandidates({ endpoint, protocol, parameters, dialects }: TargetOptions): Dialect[] {
  const url = new URL(endpoint);
  const path = url.pathname.replace(/\/+$/, "");
  const at = (pathname: string) => {
    const base = new URL(url);
    base.pathname = pathname;
    return dialects.openai(base.href.replace(/\/(?=$|\?)/, ""));
  };
  if (protocol === "agent") return [dialects.agent(endpoint)];
  if (path.endsWith(COMPLETIONS_PATH)) return [at(path.slice(0, -COMPLETIONS_PATH.length))];
  const openai = path === "" ? [at(""), at("/v1")] : [at(path)];
  // The agent's dialect has no place for parameters: without them it would be another test.
  const isAgentPossible = protocol === undefined && Object.keys(parameters).length === 0;
  return isAgentPossible ? [...openai, dialects.agent(endpoint)] : openai;
}

/** An address fit for a message: callers put secrets into queries. */
export function withoutQuery(address: string): string {
  const { origin, pathname } = new URL(address);
  return origin + pathname.replace(/\/+$/, "");
}
