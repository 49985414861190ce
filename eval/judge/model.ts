import { ProviderError } from "../../shared/providers/provider.ts";
import type { EndpointClient } from "../endpoint_client.ts";

export interface JudgeMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

/** A question to the judge; `schema` is the JSON Schema that its answer should have. */
export interface JudgeQuestion {
  name: string;
  messages: JudgeMessage[];
  schema: Record<string, unknown>;
  /** Left to the model where unset. */
  temperature?: number;
}

/** The model that judges. Answers with the text as it came; throws `ProviderError`. */
export interface JudgeModel {
  readonly name: string;
  ask(question: JudgeQuestion, signal: AbortSignal): Promise<string>;
}

/**
 * A judge behind an OpenAI-compatible address. A server that does not know `response_format`, or
 * not this model's temperature, says 400; it is asked in plain words from then on.
 */
export function createJudgeModel(
  { baseUrl, model }: { baseUrl: string; model: string },
  client: EndpointClient,
): JudgeModel {
  let isPlain = false;

  function post(question: JudgeQuestion, signal: AbortSignal, inPlain: boolean): Promise<string> {
    const { name, messages, schema, temperature } = question;
    const format = { type: "json_schema", json_schema: { name, schema, strict: true } };
    const extras = inPlain ? {} : { response_format: format, temperature };
    const body = { model, messages, ...extras };
    return client.post({ url: `${baseUrl}/chat/completions`, body, read: readContent }, signal);
  }

  return {
    name: model,
    async ask(question, signal) {
      const wasPlain = isPlain; // another question may be told no while this one is under way
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

/** An answer without content (a refusal) is text all the same: it is just no verdict. */
function readContent(answer: unknown): string | undefined {
  const choices = (answer as { choices?: { message?: { content?: unknown } }[] } | null)?.choices;
  const message = choices?.[0]?.message;
  if (!message) return undefined;
  return typeof message.content === "string" ? message.content : "";
}
