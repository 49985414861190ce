import { extendAddress } from "../../../shared/http/fetch/address.ts";
import {
  type Adaptation,
  createAdaptedAttempts,
  tryRequests,
} from "../../../shared/providers/adapted_requests.ts";
import { isTruncated, toCompletionParams } from "../../../shared/providers/openai_messages.ts";
import { readAnyReply } from "../../../shared/providers/openai_stream.ts";
import type { ChatReply, ChatRequest } from "../../../shared/providers/provider.ts";
import type { EndpointClient } from "../../endpoint/client.ts";
import type { PricedTokens } from "../../endpoint/prices.ts";

export interface JudgeMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

/** A question to the judge; `schema` is the JSON Schema that its answer should have. */
export interface JudgeQuestion {
  name: string;
  messages: JudgeMessage[];
  schema: Record<string, unknown>;
  /** Left to the model if unset. */
  temperature?: number;
}

/** What the judge said, as it came. */
export interface JudgeAnswer {
  /** `""` if there is none, as with a refusal: that is no verdict. */
  text: string;
  /** Whether the server ended it before its end: the limit on tokens, or a filter. */
  isCut: boolean;
  /** As the server reports them. */
  tokens?: PricedTokens | undefined;
}

/** The model that judges. Throws `ProviderError`. */
export interface JudgeModel {
  readonly name: string;
  /** Whether its calls are counted by `meterJudge`. */
  readonly isPriced?: boolean;
  /** Told what is wrong with an answer that could not be read after all. */
  onUnreadable?(fault: string): void;
  ask(question: JudgeQuestion, signal: AbortSignal): Promise<JudgeAnswer>;
}

/** Servers that do not know `response_format`, or not this model's temperature, refuse with 400. */
const PLAIN_WORDS: Adaptation = {
  applies: ({ extra, temperature }) => extra !== undefined || temperature !== undefined,
  adapt: ({ extra: _, temperature: __, ...request }) => request,
  isRefusal: (status) => status === 400 || status === 422,
};

/**
 * A judge behind an OpenAI-compatible address. One that refuses a question is asked in plain words;
 * if it takes them, it is asked so from then on.
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
