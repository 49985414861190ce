import type { ChatProvider, ChatReply, ChatRequest } from "../../shared/providers/provider.ts";
import {
  accountFields,
  accountHeaders,
  repairHeaders,
  toAccount,
  toHeaderValue,
} from "../answer/accounting.ts";
import type { Emit } from "../run/events.ts";
import { callModel } from "../run/model_call.ts";
import type { PreparedRun } from "../run/runner.ts";
import { callUsage, type CompletionUsage, runUsage, withoutCalls } from "./completion.ts";

/** What came of a completion. */
export interface CompletionOutcome {
  reply: ChatReply;
  usage: CompletionUsage | null;
  /** What a run cost, for the response's headers, for the stream's last chunk and for the log. */
  headers: Record<string, string>;
  account?: Record<string, unknown>;
  fields: Record<string, string | number>;
}

/** Something that answers a completion: the agent, or the model alone. */
export interface CompletionSource {
  /** Who answers, or is being asked now. */
  readonly model: string;
  /** What is known before the answer, for the headers of a stream. */
  readonly headers: Record<string, string>;
  start(options: { signal: AbortSignal; emit?: Emit }): Promise<CompletionOutcome>;
}

/** Usage is that of the whole run: it is what the request cost. */
export function fromAgent(run: PreparedRun): CompletionSource {
  return {
    get model() {
      return run.model;
    },
    headers: repairHeaders(run.repairs),
    async start(options) {
      const report = await run.start(options);
      const accounted = { report, repairs: run.repairs };
      return {
        reply: withoutCalls(report.reply),
        usage: runUsage(report),
        headers: accountHeaders(accounted),
        account: toAccount(accounted),
        fields: accountFields(report),
      };
    },
  };
}

/** The provider's own answer, its tool calls included, with nothing of the agent's. */
export function fromModel(provider: ChatProvider, request: ChatRequest): CompletionSource {
  return {
    model: request.model,
    headers: {},
    async start({ signal, emit }) {
      const reply = await callModel(request, { provider, signal, emit });
      const usage = reply.usage && callUsage(reply.usage);
      return {
        reply,
        usage,
        headers: { "x-agent-model": toHeaderValue(request.model) },
        fields: usage
          ? { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens }
          : {},
      };
    },
  };
}
