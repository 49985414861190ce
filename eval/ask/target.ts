import type { ModelParameters, Protocol } from "../test/evaluate_request.ts";
import { type ContentPart, ProviderError } from "../../shared/providers/provider.ts";
import { waitFor } from "../../shared/service/waiting.ts";
import { shorten } from "../../shared/service/text.ts";
import { baseAddresses, namesRoute } from "./endpoint_address.ts";
import type { TargetReply } from "./reply.ts";

/** One message of the conversation so far. Only the first may be the system's. */
export interface ConversationMessage {
  role: "system" | "user" | "assistant";
  content: string;
  /** What is sent instead of the text, if the message has images. */
  parts?: ContentPart[];
}

/** The model under test. `ask` throws `ProviderError` if all retries failed. */
export interface Target {
  /** Whether replies say what they cost. */
  readonly isPriced?: boolean;
  ask(conversation: ConversationMessage[], signal: AbortSignal): Promise<TargetReply>;
}

/** One way to ask one address. */
export interface Dialect {
  /** The address that it calls, for messages to people. */
  readonly address: string;
  ask(conversation: ConversationMessage[], signal: AbortSignal): Promise<TargetReply>;
}

/** Creates the two dialects. */
export interface Dialects {
  /** OpenAI's, at `{baseUrl}/chat/completions`. */
  openai(baseUrl: string): Dialect;
  /** The agent backend's, at the address as it is. */
  agent(url: string): Dialect;
}

interface TargetOptions {
  endpoint: string;
  protocol: Protocol | undefined;
  parameters: ModelParameters;
  /** Whether conversations have system messages of their own. */
  hasSystemPrompts?: boolean;
  dialects: Dialects;
}

/**
 * How long calls wait for the search of the first one: an endpoint that refuses does so at once, and
 * one that answers may take minutes.
 */
const PATIENCE_MS = 2_000;
/** Characters of all addresses' messages together: the error is stored with every turn. */
const QUOTED = 300;

/**
 * The endpoint of one run. The first call searches for the dialect of the endpoint while the others
 * wait, but not for long. Only a readable reply settles the dialect: after anything else (a timeout,
 * a reset, 400, 500, a page of HTML) other calls search, too. If a likelier address gave an
 * unreadable answer first, two such replies are needed: that answer may have been damaged. If the
 * first search, or half of all, show that the endpoint cannot be used, every further call fails with
 * the same error, without a request. One of many is not enough: a gateway may refuse a single
 * question with 403.
 */
export function createTarget(
  options: TargetOptions,
  { patienceMs = PATIENCE_MS }: { patienceMs?: number } = {},
): Target {
  const candidates = listCandidates(options);
  const hint = isAgentExcluded(options)
    ? "; an agent is not asked with parameters or system prompts unless protocol is agent"
    : "";
  let settled: Dialect | undefined;
  let fatal: unknown;
  let first: Promise<unknown> | undefined;
  let begun = 0;
  let refused = 0;
  /** Answered once, after an address before it had given an answer that could not be read. */
  let doubtful: Dialect | undefined;

  async function searchFor(
    conversation: ConversationMessage[],
    signal: AbortSignal,
  ): Promise<TargetReply> {
    const isFirst = begun++ === 0;
    try {
      const { dialect, reply, isSure } = await probe(
        candidates,
        {
          ask: (dialect) => dialect.ask(conversation, signal),
          isRight: (dialect) => dialect === settled,
          hint,
        },
      );
      if (isSure || dialect === doubtful) settled ??= dialect;
      else doubtful = dialect;
      return reply;
    } catch (error) {
      if (isUnusable(error)) {
        refused++;
        if (!settled && (isFirst || refused >= begun / 2)) fatal ??= error;
      }
      throw error;
    }
  }

  return {
    async ask(conversation, signal) {
      if (first && !settled && fatal === undefined && patienceMs > 0) {
        await waitFor(first, { ms: patienceMs, signal });
        signal.throwIfAborted();
      }
      if (fatal !== undefined) throw fatal;
      if (settled) return await settled.ask(conversation, signal);
      const search = searchFor(conversation, signal);
      first ??= search.catch(() => {});
      return await search;
    },
  };
}

/** No dialect has a chat route at the endpoint. */
class NoChatRoute extends ProviderError {}

/**
 * Asks the candidates in order until one replies. A candidate that answers 404 or 405 is skipped, and
 * so is one with an unreadable answer, which may be a web page, unless another call has found it to
 * be right meanwhile. Rejects with the first error that is neither 404 nor 405.
 */
async function probe(
  candidates: Dialect[],
  { ask, isRight, hint }: {
    ask: (dialect: Dialect) => Promise<TargetReply>;
    isRight: (dialect: Dialect) => boolean;
    /** Why an address or a dialect is not among the candidates. */
    hint: string;
  },
): Promise<{ dialect: Dialect; reply: TargetReply; isSure: boolean }> {
  let unreadable: unknown;
  const said = new Set<string>();
  for (const dialect of candidates) {
    try {
      return { dialect, reply: await ask(dialect), isSure: unreadable === undefined };
    } catch (error) {
      if (isWrongAddress(error)) {
        if (error.provider?.message) said.add(error.provider.message);
        continue;
      }
      if (!isUnreadable(error) || isRight(dialect)) throw unreadable ?? error;
      unreadable ??= error;
    }
  }
  if (unreadable !== undefined) throw unreadable;
  const tried = candidates.map((dialect) => dialect.address).join(", ");
  throw new NoChatRoute(
    404,
    "model_not_found",
    `cannot call the endpoint: it has no chat route or does not know this model (tried ${tried}${hint})` +
      (said.size > 0 ? `; it says: ${quote([...said])}` : ""),
    { kind: "status", status: 404 },
  );
}

/** All messages get the same room: any of them may name the cause. */
function quote(said: string[]): string {
  const room = Math.floor(QUOTED / said.length);
  return said.map((message) => shorten(message, room, "…")).join("; ");
}

function isWrongAddress(error: unknown): error is ProviderError {
  if (!(error instanceof ProviderError) || error.failure.kind !== "status") return false;
  return error.failure.status === 404 || error.failure.status === 405;
}

function isUnreadable(error: unknown): boolean {
  return error instanceof ProviderError && error.failure.kind === "unreadable";
}

/** Unknown host, refused connection, 401, 403, or no chat route at any address. */
function isUnusable(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  const { failure } = error;
  return error instanceof NoChatRoute || failure.kind === "unreachable" ||
    (failure.kind === "status" && (failure.status === 401 || failure.status === 403));
}

/** The dialects and addresses that an endpoint may mean, most likely first. */
function listCandidates(options: TargetOptions): Dialect[] {
  const { endpoint, protocol, dialects } = options;
  if (protocol === "agent") return [dialects.agent(endpoint)];
  const openai = baseAddresses(endpoint).map((address) => dialects.openai(address));
  if (protocol === "openai" || namesRoute(endpoint)) return openai;
  return isAgentExcluded(options) ? openai : [...openai, dialects.agent(endpoint)];
}

/** The agent's dialect can send neither: without them it would be another test. */
function isAgentExcluded({ endpoint, protocol, parameters, hasSystemPrompts }: TargetOptions) {
  const cannotSend = Object.keys(parameters).length > 0 || hasSystemPrompts === true;
  return protocol === undefined && !namesRoute(endpoint) && cannotSend;
}
