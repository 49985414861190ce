import { defined } from "../../../shared/service/fields.ts";
import { Runnable, type RunnableConfig } from "@langchain/core/runnables";
import { EphemeralValue, LastValue } from "@langchain/langgraph/channels";
import { Channel, Pregel } from "@langchain/langgraph/pregel";
import { AppError } from "../../../shared/service/errors.ts";
import { type Logger, silentLogger } from "../../../shared/service/log.ts";
import { hasMedia } from "../../../shared/providers/content.ts";
import { isTruncated } from "../../../shared/providers/openai_messages.ts";
import type {
  ChatMessage,
  ChatProvider,
  ChatReply,
  ChatRequest,
  ToolCall,
} from "../../../shared/providers/provider.ts";
import { abortError, untilAbort } from "../../../shared/service/waiting.ts";
import { shorten } from "../../../shared/service/text.ts";
import {
  type CallCounts,
  identifyCalls,
  type LimitedCalls,
  limitTurn,
  refuseRepeats,
  toHistoryCall,
} from "./turn_calls.ts";
import type { RunObserver } from "../agent_message.ts";
import {
  addModelCall,
  type AgentSettings,
  callModel,
  type FallbackProvider,
  NO_COST,
  type RunCost,
  toModelRequest,
} from "./model_call.ts";
import { runToolCalls } from "./run_tool_calls.ts";
import {
  type CallerTools,
  createCallerCalls,
  NO_TOOLS,
  offerTools,
  type PendingRun,
} from "./caller_tools.ts";
import type { Toolbox } from "../tools/tool.ts";

export interface AgentRun extends Partial<RunObserver> {
  /** `answeredBy` names the model for errors, if it may be another one than `model`. */
  provider: ChatProvider & Partial<FallbackProvider>;
  model: string;
  /** A history that every provider accepts: see `buildHistory`. */
  messages: ChatMessage[];
  tools: Toolbox;
  callerTools?: CallerTools;
  /** Calls at the end of the conversation that the caller has approved: they run first. */
  approved?: ToolCall[];
  settings: AgentSettings;
  /** How to change a conversation that the model refuses. */
  repair?: Pick<ChatRequest, "asStrict" | "onRepair">;
  log?: Logger;
}

export interface AgentResult extends RunCost {
  /** The model's last answer. */
  reply: ChatReply;
  /** Set if a limit ended the run. */
  stoppedBy?: "max_steps";
  /** Set if the reply's `toolCalls` wait for the caller: it runs them, or it approves them. */
  pending?: PendingRun;
}

/** What the model is asked with. */
interface State {
  messages: ChatMessage[];
  cost: RunCost;
  /** Empty answers so far; see `isBlank`. */
  blanks: number;
  /** The calls of the agent's tools so far. */
  counts: CallCounts;
  /** Set once the model was told that it can no longer call tools. */
  isTold?: true;
}

/** What the model passes to the tools. */
interface CallingState extends State {
  /** The calls of the agent's tools that the model asks for. */
  calls: ToolCall[];
  /** Which calls of the turn may be run, those of the caller's tools included. */
  limited: LimitedCalls;
  /** Set if it also calls tools of the caller: they are the `toolCalls` of this reply. */
  waiting?: { reply: ChatReply; ids: PendingRun["ids"] } | undefined;
}

/** What comes after a node: the other one, the same one again, or the end of the run. */
type Step =
  | { next: "ask"; value: State }
  | { next: "tools"; value: CallingState }
  | { next: "done"; value: AgentResult };

/** Characters of the text in a turn with tool calls: it is sent again with every later call. */
const MAX_ASIDE = 400_000;

/** Characters of the provider's own fields and parts in one turn, as JSON; for the same reason. */
const MAX_KEPT = 1_000_000;

async function askModel(state: State, run: AgentRun): Promise<Step> {
  const { messages, blanks } = state;
  const { provider, model, tools, callerTools = NO_TOOLS, settings, signal, emit } = run;
  const offered = offerTools(tools.definitions, callerTools);
  const hasTools = offered.tools.length > 0;
  const steps = state.cost.modelCalls - blanks;
  const mayCall = hasTools && steps < settings.maxSteps;
  const callerCalls = createCallerCalls(mayCall ? callerTools : NO_TOOLS);
  const started = performance.now();
  const offer = mayCall ? { tools: offered, isFirst: steps === 0 } : undefined;
  const request = { ...toModelRequest(messages, { model, settings, offer }), ...run.repair };
  const answer = callModel(request, {
    provider,
    emit: emit && callerCalls.watch(emit),
    signal,
  });
  const reply = await untilAbort(answer, signal);
  const ms = performance.now() - started;
  const cost = addModelCall(state.cost, { usage: reply.usage, ms });
  if (isBlank(reply)) {
    if (blanks > 0) throw emptyReply(provider.answeredBy?.() ?? model);
    return { next: "ask", value: { ...state, cost, blanks: blanks + 1 } };
  }
  const calls = identifyCalls(reply.toolCalls, messages);
  // A model may call a tool that it is no longer offered, and send no text.
  const mustBeTold = !mayCall && calls.length > 0 && !reply.content?.trim() && !state.isTold;
  if (calls.length === 0 || !mayCall && !mustBeTold) {
    const isStopped = hasTools && !mayCall;
    const result = { reply: { ...reply, toolCalls: calls }, ...cost };
    return { next: "done", value: isStopped ? { ...result, stoppedBy: "max_steps" } : result };
  }
  const { kept, limited } = limitTurn(calls);
  const { own, theirs, ids } = callerCalls.split(calls);
  // Some providers end such a reply with `stop`.
  const waiting = { reply: { ...reply, toolCalls: theirs, finishReason: "tool_calls" }, ids };
  const called: CallingState = {
    ...state,
    messages: [...messages, toHistoryMessage(reply, kept)],
    cost,
    calls: own,
    ...(mustBeTold ? { limited: refuseAll(calls), isTold: true } : { limited }),
    waiting: theirs.length > 0 ? waiting : undefined,
  };
  return { next: "tools", value: called };
}

function refuseAll(calls: ToolCall[]): LimitedCalls {
  const reason =
    "no tool can be called any more, and this call was not run; answer with what you have";
  return { accepted: [], refusals: new Map(calls.map(({ id }) => [id, reason])) };
}

/**
 * The model's turn for the next calls, with everything that its provider needs back. If that is too
 * long it is left out as a whole: providers refuse an incomplete signature.
 */
function toHistoryMessage(reply: ChatReply, calls: ToolCall[]): ChatMessage {
  const { content, parts, extra, from } = reply;
  const toolCalls = calls.map(toHistoryCall);
  const said = shorten(content ?? "", MAX_ASIDE);
  if (from === undefined) return { role: "assistant", content: said, toolCalls };
  const kept: unknown[] = [parts, extra, ...toolCalls.map((call) => call.extra)];
  if (JSON.stringify(kept).length > MAX_KEPT) {
    const bare = toolCalls.map(({ extra: _, ...call }) => call);
    return { role: "assistant", content: said, toolCalls: bare };
  }
  return defined({ role: "assistant", content: parts ?? said, toolCalls, extra, from });
}

/** An answer that says nothing and gives no reason for it. Reasoning alone counts as empty. */
function isBlank(reply: ChatReply): boolean {
  const { content, refusal, toolCalls, finishReason } = reply;
  if (toolCalls.length > 0 || content?.trim() || refusal?.trim()) return false;
  // The same request would end in the same way.
  if (isTruncated(finishReason) || finishReason === "content_filter") return false;
  return !hasMedia(reply);
}

function emptyReply(model: string): AppError {
  const reason = "it sent an empty answer twice";
  return new AppError(502, "empty_reply", `cannot get a reply for model "${model}": ${reason}`, {
    headers: { "x-should-retry": "false" }, // the service has already retried
  });
}

/** Runs the calls. The model is asked next, unless the caller has calls of its own to run. */
async function useTools(state: CallingState, run: AgentRun): Promise<Step> {
  const {
    tools,
    settings: { toolTimeoutMs: timeoutMs },
    signal,
    emit = run.onTool,
    log = silentLogger,
  } = run;
  const { calls, limited, waiting, ...before } = state;
  const accepted = calls.filter((call) => limited.accepted.includes(call));
  const repeats = refuseRepeats(accepted, state.counts);
  const refusals = new Map([...limited.refusals, ...repeats.refusals]);
  const started = performance.now();
  const answers = await runToolCalls(calls, { tools, log, signal, emit, refusals, timeoutMs });
  const cost = {
    ...state.cost,
    toolCalls: state.cost.toolCalls + accepted.length,
    toolMs: state.cost.toolMs + performance.now() - started,
  };
  const messages = [...state.messages, ...answers];
  if (waiting) {
    const { reply, ids } = waiting;
    const pending = { added: messages.slice(run.messages.length), ids };
    return { next: "done", value: { reply, ...cost, pending } };
  }
  return { next: "ask", value: { ...before, messages, cost, counts: repeats.counts } };
}

const write = {
  ask: Channel.writeTo(["ask"]),
  tools: Channel.writeTo(["tools"]),
  done: Channel.writeTo(["done"]),
};

/**
 * A node of the graph. It writes to the next channel itself: as a sequence of a function and a write,
 * with a trace and copies of the configuration for each, the graph costs half as much again.
 */
class Node<State> extends Runnable<State, void> {
  override lc_namespace = ["assay"];
  constructor(private readonly run: (state: State, run: AgentRun) => Promise<Step>) {
    super();
  }
  override async invoke(state: State, config?: Partial<RunnableConfig>): Promise<void> {
    const { next, value } = await this.run(state, config?.configurable?.run);
    await write[next].func(value, config);
  }
}

/** Created once. It holds no state of a run: each run is passed in its configuration. */
const graph = new Pregel({
  nodes: {
    askModel: Channel.subscribeTo("ask").pipe(new Node(askModel)),
    useTools: Channel.subscribeTo("tools").pipe(new Node(useTools)),
  },
  channels: {
    ask: new EphemeralValue<State>(),
    tools: new EphemeralValue<CallingState>(),
    done: new LastValue<AgentResult>(),
  },
  inputChannels: ["ask", "tools"],
  outputChannels: "done",
  streamChannels: "done",
  // In place of a function for each run, which would keep all of the run until the next full
  // garbage collection.
  config: { writer: () => {} },
});

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

/**
 * Runs the model and the tools that it calls, up to `maxSteps` model calls. Then the model is asked
 * once more, without tools, so that no work is lost; if it calls one instead of answering, it is told
 * so and asked a last time. A call of a caller's tool ends the run once the agent's own calls of that
 * turn have run. After an empty answer the model is asked again; a second one is a 502 `empty_reply`. An
 * answer without text is not empty if it has speech or images, or if its `finishReason` says that it
 * was cut off or filtered. Throws what the provider throws, and an `AbortError` as soon as `signal`
 * is aborted.
 */
export async function runAgent(run: AgentRun): Promise<AgentResult> {
  if (run.signal?.aborted) throw abortError();
  const first: State = { messages: run.messages, cost: NO_COST, blanks: 0, counts: new Map() };
  const { approved: calls = [] } = run;
  try {
    const start = calls.length === 0
      ? { ask: first }
      : { tools: { ...first, calls, limited: limitTurn(calls).limited } };
    // LangGraph is not given the signal: it would throw an error of its own. The nodes watch it.
    // Not `invoke`, which puts two web streams and a tracer around the same iterator.
    const results = graph.transform(once(start), {
      configurable: { run },
      recursionLimit: 2 * run.settings.maxSteps + 10, // the last answer, and what is asked again
    });
    let last!: AgentResult;
    for await (const result of results) last = result;
    return last;
  } catch (error) {
    throw run.signal?.aborted ? abortError() : error;
  }
}
