import { extendAddress } from "../../shared/http/outgoing_fetch.ts";
import {
  type Adaptation,
  createAdaptedAttempts,
  tryRequests,
} from "../../shared/providers/adapted_requests.ts";
import { isTruncated, toCompletionParams } from "../../shared/providers/openai_messages.ts";
import { readAnyReply } from "../../shared/providers/openai_answer.ts";
import {
  type ChatReply,
  type ChatRequest,
  ProviderError,
} from "../../shared/providers/provider.ts";
import type { EndpointClient } from "../ask/client.ts";
import { costOf, type PricedTokens } from "../ask/prices.ts";
import { withoutNoise } from "../test/rounding.ts";
import type { Cost, Price } from "../test/cost.ts";
import type { Logger } from "../../shared/service/log.ts";
import { shorten } from "../../shared/service/text.ts";
import type { Metrics } from "../../shared/service/ops/metrics.ts";
import type { observeCall } from "../ask/observation.ts";

export interface JudgeMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

/** A question to the judge; `schema` is the JSON Schema of the answer. */
export interface JudgeQuestion {
  name: string;
  messages: JudgeMessage[];
  schema: Record<string, unknown>;
  /** The model's default if unset. */
  temperature?: number;
}

/** The unparsed answer of the judge. */
export interface JudgeAnswer {
  /** `""` if there is none, as with a refusal; it cannot be read as a verdict. */
  text: string;
  /** Whether the server truncated it: at the token limit, or by a content filter. */
  isCut: boolean;
  /** As the server reports them. */
  tokens?: PricedTokens | undefined;
  /** `null` if it is not known; unset without prices. */
  cost?: Cost | null;
}

/** The model that judges. Throws `ProviderError`. */
export interface JudgeModel {
  readonly name: string;
  /** Called if an answer could not be read even after a second attempt. */
  onUnreadable?(fault: string): void;
  ask(question: JudgeQuestion, signal: AbortSignal): Promise<JudgeAnswer>;
}

/** Servers without support for `response_format`, or for `temperature`, answer 400 or 422. */
const PLAIN_WORDS: Adaptation = {
  applies: ({ extra, temperature }) => extra !== undefined || temperature !== undefined,
  adapt: ({ extra: _, temperature: __, ...request }) => request,
  isRefusal: (status) => status === 400 || status === 422,
};

/**
 * A judge at an OpenAI-compatible address. If it refuses the schema or the temperature, it is asked
 * without them, and from then on if that works.
 */
export function createJudgeModel(
  { baseUrl, model }: { baseUrl: string; model: string },
  client: EndpointClient,
): JudgeModel {
  const url = extendAddress(baseUrl, "/chat/completions");
  const attempts = createAdaptedAttempts([PLAIN_WORDS]);

  return {
    name: model,
    async ask({ name, messages, schema, temperature }, signal) {
      const format = { type: "json_schema", json_schema: { name, schema, strict: true } };
      const question: ChatRequest = {
        model,
        messages,
        extra: { response_format: format },
        ...(temperature !== undefined && { temperature }),
      };
      const { value } = await tryRequests(question, attempts, (request) =>
        client.post({
          url,
          body: toCompletionParams(request),
          read: (response, clock) => readAnyReply(response, { model, clock }),
        }, signal));
      return toAnswer(value);
    },
  };
}

function toAnswer({ content, finishReason, usage }: ChatReply): JudgeAnswer {
  return {
    text: content ?? "",
    isCut: isTruncated(finishReason) || finishReason === "content_filter",
    ...(usage && {
      tokens: {
        input: usage.promptTokens,
        cachedInput: usage.promptDetails?.cached_tokens,
        output: usage.completionTokens,
      },
    }),
  };
}

/** Adds what each answer costs. */
export function priceJudge(judge: JudgeModel, price: Price | undefined): JudgeModel {
  return {
    ...judge,
    async ask(question, signal) {
      const answer = await judge.ask(question, signal);
      return { ...answer, cost: costOf(price, answer.tokens ?? null) };
    },
  };
}

/**
 * The same judge, and what its answers have cost so far: `null` if that of one is not known, unset
 * without answers that have a price. Failed calls are not counted.
 */
export function meterJudge(
  judge: JudgeModel,
): { judge: JudgeModel; cost(): Cost | null | undefined } {
  let total: Cost | null | undefined;
  return {
    cost: () => total,
    judge: {
      ...judge,
      async ask(question, signal) {
        const answer = await judge.ask(question, signal);
        const { cost } = answer;
        if (cost === null || total === null) total = null;
        else if (cost) {
          total = { ...cost, amount: withoutNoise((total?.amount ?? 0) + cost.amount) };
        }
        return answer;
      },
    },
  };
}

/** If the judge is down, every turn fails for the same reason. */
const LOG_MS = 60_000;
/** The description of an unreadable answer may list many labels. */
const MOST_CHARACTERS = 500;

/**
 * Logs why the judge cannot be asked or its answer cannot be read, at most once per minute and kind
 * of failure. Results have only the codes `judge_unavailable` and `judge_unreadable`.
 */
export function logJudge(
  judge: JudgeModel,
  log: Logger,
  now: () => number = () => performance.now(),
): JudgeModel {
  const logged = new Map<string, number>();

  function report(message: string, { code, detail }: { code: string; detail: string }): void {
    const last = logged.get(code) ?? -Infinity;
    if (now() - last < LOG_MS) return;
    logged.set(code, now());
    log.warn(message, { model: judge.name, code, detail });
  }

  return {
    ...judge,
    onUnreadable(fault) {
      const detail = shorten(fault, MOST_CHARACTERS, "…");
      report("the judge's answer cannot be read", { code: "judge_unreadable", detail });
    },
    async ask(question, signal) {
      try {
        return await judge.ask(question, signal);
      } catch (error) {
        if (error instanceof ProviderError) {
          report("the judge cannot be asked", { code: error.code, detail: error.message });
        }
        throw error;
      }
    },
  };
}

/** Adds metrics and a trace span for each question. `observe` is `observeCall`. */
export function observeJudge(
  judge: JudgeModel,
  { metrics, observe }: { metrics: Metrics; observe: typeof observeCall },
): JudgeModel {
  const model = { metrics, provider: "judge", model: judge.name };
  return {
    ...judge,
    ask: (question, signal) =>
      observe(model, {
        call: () => judge.ask(question, signal),
        tokensOf: ({ tokens }) => tokens,
      }),
  };
}
