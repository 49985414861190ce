import { Runnable, type RunnableConfig } from "@langchain/core/runnables";
// The entry without async-local storage: a run is handed from node to node by its configuration.
import { Annotation, Command, END, START, StateGraph } from "@langchain/langgraph/web";
import { AppError } from "../shared/errors.ts";
import { type Logger, silentLogger } from "../shared/log.ts";
import type { ChatMessage, ChatProvider, ChatReply } from "../shared/providers/provider.ts";
import { abortError, untilAbort } from "../shared/abort.ts";
import { shorten } from "../shared/shorten.ts";
import { identifyCalls, toHistoryCall } from "./call_identity.ts";
import type { Emit } from "./events.ts";
import { callModel } from "./model_call.ts";
import { addCost, NO_COST, type Tally } from "./tally.ts";
import { refuseRepeats } from "./repeats.ts";
import { runToolCalls, type ToolLimits } from "./tool_calls.ts";
import { limitTurn } from "./turn_limits.ts";
import type { Toolbox } from "./tools/tool.ts";

/** What a model call may be told; unset means the provider's own. */
export interface AgentSettings {
  /** Model calls before the model is asked, without tools, for what it has; at least 1. */
  maxSteps: number;
  temperature?: number | undefined;
  maxTokens?: number | undefined;
  /** Further fields for the provider; see `ChatRequest.extra`. */
  extra?: Record<string, unknown> | undefined;
  /** Bounds of a tool call; unset: the usual ones. */
  toolLimits?: Partial<ToolLimits> | undefined;
}

export interface AgentRun {
  provider: ChatProvider;
  model: string;
  /** A history that the provider accepts: see `buildHistory`. */
  messages: ChatMessage[];
  tools: Toolbox;
  settings: AgentSettings;
  signal?: AbortSignal;
  /** Given: the provider is streamed, and this hears what happens. */
  emit?: Emit;
  log?: Logger;
}

export interface AgentResult extends Tally {
  /** The last answer of the model. */
  reply: ChatReply;
  /** Set where the model would have gone on. */
  stoppedBy?: "max_steps";
}

const State = Annotation.Root({
  messages: Annotation<ChatMessage[]>({
    reducer: (messages, added) => messages.concat(added),
    default: () => [],
  }),
  reply: Annotation<ChatReply | null>({ reducer: (_, reply) => reply, default: () => null }),
  tally: Annotation<Tally, Partial<Tally>>({ reducer: addCost, default: () => NO_COST }),
  /** Answers so far that said nothing and asked for nothing. */
  blanks: Annotation<number>({ reducer: (sum, more) => sum + more, default: () => 0 }),
  isStopped: Annotation<boolean>({ reducer: (_, isStopped) => isStopped, default: () => false }),
});
type State = typeof State.State;

/** What a model says beside its tool calls is sent again with each later call; nobody says more. */
const MAX_ASIDE = 400_000;

/**
 * A node without LangChain's wrapping of a function, which sets up a trace for each call: with the
 * jumps by `Command` in place of conditional edges, this halves what a run costs.
 */
class Node extends Runnable<State, Command> {
  override lc_namespace = ["assay"];
  constructor(private readonly run: (state: State, run: AgentRun) => Promise<Command>) {
    super();
  }
  override invoke(state: State, config?: Partial<RunnableConfig>): Promise<Command> {
    return this.run(state, config?.configurable?.run);
  }
}

async function askModel(state: State, run: AgentRun): Promise<Command> {
  const { messages, tally, blanks } = state;
  const { provider, model, tools, settings, signal, emit } = run;
  const { temperature, maxTokens, extra } = settings;
  const hasTools = tools.definitions.length > 0;
  const mayCall = hasTools && tally.modelCalls - blanks < settings.maxSteps;
  const started = performance.now();
  const answer = callModel({
    model,
    messages,
    ...(mayCall && { tools: tools.definitions }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(extra && { extra }),
  }, { provider, emit, ...(signal && { signal }) });
  const reply = await untilAbort(answer, signal);
  const cost = {
    modelCalls: 1,
    inputTokens: reply.usage?.promptTokens ?? 0,
    outputTokens: reply.usage?.completionTokens ?? 0,
    modelMs: performance.now() - started,
  };
  if (isBlank(reply)) {
    if (blanks > 0) throw emptyReply(model);
    return new Command({ goto: "model", update: { tally: cost, blanks: 1 } });
  }
  const toolCalls = identifyCalls(reply.toolCalls, messages);
  const { kept } = limitTurn(toolCalls, settings.toolLimits);
  return new Command({
    goto: mayCall && toolCalls.length > 0 ? "tools" : END,
    update: {
      messages: [{
        role: "assistant",
        content: shorten(reply.content ?? "", MAX_ASIDE),
        ...(toolCalls.length > 0 && { toolCalls: kept.map(toHistoryCall) }),
      }],
      reply: { ...reply, toolCalls },
      tally: cost,
      isStopped: hasTools && !mayCall,
    },
  });
}

function isBlank({ content, refusal, toolCalls }: ChatReply): boolean {
  return toolCalls.length === 0 && !content?.trim() && !refusal?.trim();
}

function emptyReply(model: string): AppError {
  const reason = "it answered nothing, twice";
  return new AppError(502, "empty_reply", `cannot get a reply for model "${model}": ${reason}`);
}

async function useTools(state: State, run: AgentRun): Promise<Command> {
  const { tools, settings: { toolLimits }, signal, emit, log = silentLogger } = run;
  const calls = state.reply?.toolCalls ?? [];
  const { accepted, refusals } = limitTurn(calls, toolLimits);
  const repeats = refuseRepeats(accepted, {
    said: state.messages.slice(run.messages.length),
    limits: toolLimits,
  });
  for (const [id, reason] of repeats) refusals.set(id, reason);
  const started = performance.now();
  const messages = await runToolCalls(calls, { tools, log, signal, emit, refusals, ...toolLimits });
  const tally = { toolCalls: accepted.length, toolMs: performance.now() - started };
  return new Command({ goto: "model", update: { messages, tally } });
}

/** Compiled once: it holds nothing of a run, which comes in with each one's configuration. */
const graph = new StateGraph(State)
  .addNode("model", new Node(askModel), { ends: ["model", "tools", END] })
  .addNode("tools", new Node(useTools), { ends: ["model"] })
  .addEdge(START, "model")
  .compile();

/**
 * Lets the model answer, using tools as often as it wants up to `maxSteps`; then it is asked once
 * more, without tools, so that no work is lost. An answer of nothing is asked for once more, then
 * it is 502 `empty_reply`. Throws what the provider throws, and an `AbortError` as soon as `signal`
 * is aborted.
 */
export async function runAgent(run: AgentRun): Promise<AgentResult> {
  if (run.signal?.aborted) throw abortError();
  const { reply, tally, isStopped } = await invokeGraph(run);
  if (!reply) throw new Error("the graph ended before the model was asked");
  return { reply, ...tally, ...(isStopped && { stoppedBy: "max_steps" }) };
}

async function invokeGraph(run: AgentRun): Promise<State> {
  try {
    // Entered at the model by a Command, which spares LangGraph's own first step, and without
    // LangGraph's signal, which would make an abort an error of its own: the nodes heed ours.
    return await graph.invoke(
      new Command({ goto: "model", update: { messages: run.messages } }),
      { configurable: { run }, recursionLimit: 2 * run.settings.maxSteps + 6 },
    ) as State;
  } catch (error) {
    throw run.signal?.aborted ? abortError() : error;
  }
}
