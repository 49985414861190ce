import { type Attributes, type Span, SpanKind } from "@opentelemetry/api";
import { AppError, isAbort } from "../errors.ts";
import type { ChatProvider, ChatReply, ChatRequest } from "../providers/provider.ts";
import type { Metrics } from "./metrics.ts";
import { failSpan, startSpan, withSpan } from "./tracing.ts";

/** The same provider, whose calls are counted and traced (OpenTelemetry's GenAI conventions). */
export function observeProvider<P extends ChatProvider>(provider: P, metrics: Metrics): P {
  const { name } = provider;

  function begin() {
    const started = performance.now();
    const endTurn = metrics.startTurn();
    return (outcome: string, usage: ChatReply["usage"] = null) => {
      endTurn();
      metrics.modelCall({
        provider: name,
        outcome,
        seconds: (performance.now() - started) / 1000,
        inputTokens: usage?.promptTokens ?? 0,
        outputTokens: usage?.completionTokens ?? 0,
      });
    };
  }

  const complete: ChatProvider["complete"] = (request, options) =>
    withSpan(describe(name, request), async (span) => {
      const end = begin();
      try {
        const reply = await provider.complete(request, options);
        describeReply(span, reply);
        end("ok", reply.usage);
        return reply;
      } catch (error) {
        end(callOutcomeOf(error));
        throw error;
      }
    });

  const stream: ChatProvider["stream"] = async function* (request, options) {
    const span = startSpan(describe(name, request));
    const end = begin();
    let outcome = "left"; // of a reader that goes away before the reply is there
    let usage: ChatReply["usage"] = null;
    try {
      for await (const delta of provider.stream(request, options)) {
        if (delta.type === "reply") {
          outcome = "ok";
          usage = delta.reply.usage;
          describeReply(span, delta.reply);
        }
        yield delta;
      }
    } catch (error) {
      outcome = callOutcomeOf(error);
      failSpan(span, error);
      throw error;
    } finally {
      end(outcome, usage);
      span.end();
    }
  };

  return { ...provider, complete, stream };
}

/** `ok` is not among these: a bounded set, as labels must be. */
export function callOutcomeOf(error: unknown): string {
  if (isAbort(error)) return "left";
  return error instanceof AppError ? error.code : "internal";
}

function describe(provider: string, { model, temperature, maxTokens, seed }: ChatRequest) {
  const attributes: Attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": model,
    ...(temperature !== undefined && { "gen_ai.request.temperature": temperature }),
    ...(maxTokens !== undefined && { "gen_ai.request.max_tokens": maxTokens }),
    ...(seed !== undefined && { "gen_ai.request.seed": seed }),
  };
  return { name: `chat ${model}`, kind: SpanKind.CLIENT, attributes };
}

function describeReply(span: Span, { id, model, finishReason, usage }: ChatReply): void {
  span.setAttributes({
    "gen_ai.response.model": model,
    ...(id !== null && { "gen_ai.response.id": id }),
    ...(finishReason !== null && { "gen_ai.response.finish_reasons": [finishReason] }),
    ...(usage && {
      "gen_ai.usage.input_tokens": usage.promptTokens,
      "gen_ai.usage.output_tokens": usage.completionTokens,
    }),
  });
}
