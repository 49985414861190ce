import { extendAddress } from "../../../shared/http/fetch/address.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";
import { parseUsage } from "../../../shared/providers/openai_messages.ts";
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

/**
 * A judge behind an OpenAI-compatible address. A server that does not know `response_format`, or
 * not this model's temperature, says 400; it is asked in plain words from then on.
 */
export function createJudgeModel(
  { baseUrl, model }: { baseUrl: string; model: string },
  client: EndpointClient,
): JudgeModel {
  const url = extendAddress(baseUrl, "/chat/completions");
  let isPlain = false;

  function post(question: JudgeQuestion, signal: AbortSignal, inPlain: boolean) {
    const { name, messages, schema, temperature } = question;
    const format = { type: "json_schema", json_schema: { name, schema, strict: true } };
    const extras = inPlain ? {} : { response_format: format, temperature };
    const body = { model, messages, ...extras };
    return client.post({ url, body, read: readAnswer }, signal);
  }

  return {
    name: model,
    async ask(question, signal) {
      const wasPlain = isPlain; // another question may be refused while this one is running
      try {
        return await post(question, signal, wasPlain);
      } catch (error) {
        if (wasPlain || !isBadRequest(error)) throw error;
        const answer = await post(question, signal, true);
        isPlain = true; // only now: a question that is refused in plain words too is at fault itself
        return answer;
      }
    },
  };
}

function isBadRequest(error: unknown): boolean {
  if (!(error instanceof ProviderError) || error.failure.kind !== "status") return false;
  return error.failure.status === 400 || error.failure.status === 422;
}

interface Completion {
  usage?: unknown;
  choices?: { message?: { content?: unknown }; finish_reason?: unknown }[];
}

const CUT = new Set<unknown>(["length", "max_tokens", "content_filter"]);

function readAnswer(completion: unknown): JudgeAnswer | undefined {
  const choice = (completion as Completion | null)?.choices?.[0];
  if (!choice?.message) return undefined;
  const usage = parseUsage((completion as Completion).usage);
  return {
    text: textOf(choice.message.content),
    isCut: CUT.has(choice.finish_reason),
    ...(usage && {
      tokens: {
        input: usage.promptTokens,
        cachedInput: usage.promptDetails?.cached_tokens,
        output: usage.completionTokens,
      },
    }),
  };
}

/** Some servers answer in parts, of which those of type `text` are the answer. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => part?.type === "text" ? String(part.text ?? "") : "").join("");
}
