import { unsupportedField } from "../../../shared/service/errors.ts";
import { loadApart } from "../../../shared/service/waiting.ts";
import type { Logger } from "../../../shared/service/log.ts";
import { withSpan } from "../../../shared/service/ops/tracing.ts";
import { withPlainCallIds } from "./turn_calls.ts";
import { isSameProvider } from "../../../shared/providers/content.ts";
import type { ToolDefinition } from "../../../shared/providers/provider.ts";
import type { AgentConfig } from "../../config.ts";
import { createCallerTools, type PendingRun, readDecisions, withSentIds } from "./caller_tools.ts";
import { type CallerMessage, splitPrompt } from "./caller_messages.ts";
import type { RunObserver } from "../agent_message.ts";
import type { AgentResult, AgentRun } from "./graph.ts";
import { answeredId, buildHistory, type HistoryRepairs } from "./history.ts";
import { type AgentSettings, createFallback } from "./model_call.ts";
import { type ModelChoice, resolveModel } from "../models/choice.ts";
import type { Models } from "../models/models.ts";
import { createToolbox, type Toolbox, type ToolSource } from "../tools/tool.ts";
import { createRecent } from "./recent.ts";

/** A conversation to answer. Unset settings come from the configuration. */
interface RunRequest {
  choice: ModelChoice;
  messages: CallerMessage[];
  /** The field of the request that has the conversation, for errors; `messages` if it is unset. */
  field?: string | undefined;
  systemPrompt?: string | undefined;
  settings?: Partial<AgentSettings>;
  /** Tools that the caller runs; see `AgentResult.pending`. */
  callerTools?: ToolDefinition[];
  /** The model answers alone: without the agent's tools, prompt, settings and fallbacks. */
  isPlain?: boolean;
  /** The agent's tools wait for the caller's approval. */
  needsApproval?: boolean;
  /** Whose run it is: only the same caller can continue it. */
  caller: string;
  /** The caller's own id of the conversation, for traces. */
  conversationId?: string | undefined;
}

export interface RunReport extends AgentResult {
  /** The model that answered: the requested one, or a fallback. */
  model: string;
}

export interface PreparedRun {
  /** Final once the model has answered: a refusal may require further repairs. */
  readonly repairs: HistoryRepairs;
  /** The model that answered last, or that is being asked now. */
  model(): string;
  /** May be called once. Throws as `runAgent` does. */
  start(observer: RunObserver): Promise<RunReport>;
}

let graph: typeof import("./graph.ts") | undefined;

/** Loads LangGraph, which takes half of the service's load time. */
export async function loadGraph(): Promise<typeof import("./graph.ts")> {
  return graph = await loadApart(() => import("./graph.ts"));
}

/** Turns requests into runs. Throws 4xx and 503 before a provider is asked. */
export interface Runner {
  prepare(request: RunRequest): PreparedRun;
}

export interface RunnerDeps {
  config: AgentConfig;
  log: Logger;
  models: Models;
  tools: ToolSource;
}

const NO_TOOLS = createToolbox([]);

/** Messages of a conversation that are sent, the latest. */
const MAX_HISTORY = 200;

export function createRunner({ config, log, models, tools }: RunnerDeps): Runner {
  const configured: AgentSettings = {
    maxSteps: config.AGENT_MAX_STEPS,
    temperature: config.AGENT_TEMPERATURE,
    maxTokens: config.AGENT_MAX_TOKENS,
    toolTimeoutMs: config.TOOL_TIMEOUT_MS,
  };

  const pending = createPendingRuns();
  const fallbacks = config.HUB_FALLBACK.map((id) => resolveModel(id, config).model);

  return {
    prepare(request) {
      const { choice, field, systemPrompt, settings, caller, isPlain, callerTools = [] } = request;
      const { target, model } = choice;
      const toolbox = isPlain ? NO_TOOLS : tools.current();
      refuseSameNames(callerTools, toolbox);
      const others = target === "hub" && !isPlain ? fallbacks.filter((id) => id !== model) : [];
      const asked = [model, ...others];
      const history = buildHistory(pending.restore(request.messages, caller), {
        systemPrompt,
        defaultPrompt: isPlain ? undefined : config.AGENT_SYSTEM_PROMPT,
        maxMessages: isPlain ? undefined : MAX_HISTORY,
        field,
      });
      const provider = createFallback(models.providerFor(target), asked);
      const repairs: HistoryRepairs = { ...history.repairs };
      return {
        repairs,
        model: provider.answeredBy,
        async start(observer) {
          const { runAgent } = graph ?? await loadGraph();
          // Without a sender, the fields of a turn and its ids belong to the model that is asked.
          const isForeign = (from = model) => !isSameProvider(from, model);
          const messages = withPlainCallIds(history.messages, isForeign);
          const asked = request.needsApproval ? toolbox.names : [];
          const decided = asked.length > 0
            ? readDecisions(messages, { given: request.messages, tools: asked })
            : undefined;
          const run = () =>
            runAgent({
              provider,
              model,
              messages: decided?.messages ?? messages,
              approved: decided?.approved ?? [],
              tools: toolbox,
              callerTools: createCallerTools(callerTools, asked),
              settings: { ...(isPlain ? { maxSteps: 1 } : configured), ...settings },
              repair: createRepair(repairs),
              log,
              ...(decided?.approved.length ? withSentIds(observer, decided.sentIds) : observer),
            });
          const result = await withSpan(spanOf(request), async (span) => {
            const ended = await run();
            span.setAttributes({
              "gen_ai.usage.input_tokens": ended.inputTokens,
              "gen_ai.usage.output_tokens": ended.outputTokens,
            });
            return ended;
          });
          if (result.pending) pending.keep(result.pending, caller);
          return { ...result, model: provider.answeredBy() };
        },
      };
    },
  };
}

function spanOf({ choice, conversationId }: RunRequest) {
  return {
    name: "invoke_agent assay-agent",
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": choice.target,
      "gen_ai.agent.name": "assay-agent",
      "gen_ai.request.model": choice.model,
      "gen_ai.conversation.id": conversationId,
    },
  };
}

function refuseSameNames(callerTools: ToolDefinition[], { names }: Toolbox): void {
  const index = callerTools.findIndex(({ name }) => names.includes(name));
  if (index < 0) return;
  const shown = JSON.stringify(callerTools[index]!.name);
  const message = `the agent has a tool named ${shown} itself (GET /tools); rename yours, or end ` +
    "the model id with :plain to ask the model without the agent";
  throw unsupportedField(`tools.${index}`, message);
}

/** How a conversation is changed for a model that refuses it; adds the changes to `repairs`. */
function createRepair(repairs: HistoryRepairs): NonNullable<AgentRun["repair"]> {
  const { paired } = repairs;
  return {
    onRepair: (more) => Object.assign(repairs, more),
    asStrict(messages) {
      const { systemPrompt, rest } = splitPrompt(messages);
      const strict = buildHistory(rest, { systemPrompt, isStrict: true });
      const { merged, bridged, opened, paired: more } = strict.repairs;
      Object.assign(repairs, { merged, bridged, opened, paired: paired + more });
      return strict.messages;
    },
  };
}

const KEPT_MINUTES = 60;
const KEPT_CHARACTERS = 32_000_000;

/**
 * The runs that wait for their callers, with what each has done before. The caller sends back only
 * its own call and result, and without the rest the model would use the agent's tools again. If a run
 * was forgotten, or another process had it, the run continues with what the caller sent.
 */
function createPendingRuns() {
  const recent = createRecent<PendingRun>({
    maxAgeMs: KEPT_MINUTES * 60_000,
    maxCharacters: KEPT_CHARACTERS,
  });

  return {
    keep(run: PendingRun, caller: string): void {
      recent.keep(run, { caller, keys: [...run.ids.keys()] });
    },
    /**
     * A conversation with what its runs of the same caller had added; the results in it answer the
     * model's own calls. Results that the runs had added replace the caller's.
     */
    restore(conversation: CallerMessage[], caller: string): CallerMessage[] {
      const ids = new Map<string, string>();
      const restored = new Set<PendingRun>();
      const whole = conversation.flatMap((message): CallerMessage[] => {
        if (message.role === "tool") {
          const toolCallId = ids.get(message.toolCallId ?? "") ?? message.toolCallId;
          return [{ ...message, toolCallId }];
        }
        const call = message.role === "assistant" ? message.toolCalls?.[0] : undefined;
        const run = call && recent.find(call.id, caller);
        if (!run) return [message];
        if (restored.has(run)) return []; // some clients send each call of a turn by itself
        restored.add(run);
        for (const [theirs, own] of run.ids) ids.set(theirs, own);
        return run.added;
      });
      if (restored.size === 0) return whole;
      const added = new Set<CallerMessage>([...restored].flatMap((run) => run.added));
      const answered = new Set([...added].map(answeredId));
      return whole.filter((message) => {
        const id = answeredId(message);
        return id === undefined || added.has(message) || !answered.has(id);
      });
    },
  };
}
