import type { ChatReply } from "../../../shared/providers/provider.ts";
import { accountFields, accountHeaders, runHeaders, toAccount } from "../answer/run_request.ts";
import type { AgentEvent, Emit, RunObserver } from "../../core/agent_message.ts";
import type { PreparedRun } from "../../core/run/runner.ts";
import { type CompletionUsage, runUsage, withoutCalls } from "./completion.ts";

/** The request of a completion, without its body. */
export interface CompletionCaller {
  headers: Headers;
  /** See `callerOf`. */
  caller: string;
  /** The field of the request that has the conversation, for errors; `messages` if it is unset. */
  field?: string;
}

/** The result of a completion. */
interface CompletionOutcome {
  reply: ChatReply;
  usage: CompletionUsage | null;
  /** What a run cost: for the response's headers, the stream's last chunk and the log. */
  headers: Record<string, string>;
  account?: Record<string, unknown>;
  fields: Record<string, string | number>;
}

/** Answers a completion. */
export interface CompletionSource {
  /** The model that answered, or that is being asked now. */
  model(): string;
  /** Headers of a stream: what is known before the answer. */
  headers(): Record<string, string>;
  start(observer: RunObserver): Promise<CompletionOutcome>;
}

/**
 * The agent's answer, with the usage of the whole run. `isJson`: the caller wants it as JSON; see
 * `holdAsides`.
 */
export function fromAgent(run: PreparedRun, { isJson }: { isJson: boolean }): CompletionSource {
  return {
    model: run.model,
    headers: () => runHeaders(run),
    async start({ emit, ...observer }) {
      const held = emit && isJson ? holdAsides(emit) : undefined;
      const report = await run.start({ ...observer, emit: held?.emit ?? emit });
      await held?.end();
      const accounted = { report, repairs: run.repairs };
      return {
        reply: report.pending ? report.reply : withoutCalls(report.reply),
        usage: runUsage(report),
        headers: accountHeaders(accounted),
        account: toAccount(accounted),
        fields: accountFields(report),
      };
    },
  };
}

/**
 * Leaves out the text that accompanies calls of the agent's own tools: in a stream it would precede
 * the JSON, and no client could parse the whole. Text that begins like JSON is passed on at once.
 * Other text is held until it is known whether the turn calls a tool.
 */
function holdAsides(emit: Emit) {
  let held: AgentEvent[] = [];
  /** What the text of this turn is, once it is known. */
  let kind: "json" | "other" | undefined;

  /** Passes on the held text at the end of the run: it is the answer, or a part of it. */
  async function end(): Promise<void> {
    const events = held;
    held = [];
    for (const event of events) await emit(event);
  }

  return {
    end,
    async emit(event: AgentEvent): Promise<void> {
      if (event.type === "token") {
        if (event.text.trim()) kind ??= /^\s*[{[]/.test(event.text) ? "json" : "other";
        held.push(event);
        if (kind === "json") await end();
        return;
      }
      if (event.type === "tool_call") {
        held = [];
        kind = undefined;
      }
      if (event.type === "call") await end();
      await emit(event);
    },
  };
}
