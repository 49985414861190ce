import type {
  CallPiece,
  ChatMessage,
  ToolCall,
  ToolDefinition,
} from "../../../shared/providers/provider.ts";
import { textOf, toolCallsOf } from "../../../shared/providers/content.ts";
import type { CallerMessage } from "./caller_messages.ts";
import type { Emit, RunObserver } from "../agent_message.ts";
import { randomHex } from "../../../shared/service/text.ts";

/** Tools of the caller, which the caller runs itself. */
export interface CallerTools {
  readonly definitions: ToolDefinition[];
  /** A call of this tool ends the run: it is the caller's, or the caller has to approve it. */
  has(name: string): boolean;
}

/** `asked` are the agent's tools that the caller has to approve. */
export function createCallerTools(
  definitions: ToolDefinition[],
  asked: readonly string[] = [],
): CallerTools {
  const names = new Set([...definitions.map(({ name }) => name), ...asked]);
  return { definitions, has: (name) => names.has(name) };
}

export const NO_TOOLS: CallerTools = createCallerTools([]);

/** The agent's tools and the caller's, as a model is offered them. */
export function offerTools(
  own: ToolDefinition[],
  { definitions }: CallerTools,
): { tools: ToolDefinition[]; mayOmitTools?: true } {
  const tools = [...own, ...definitions];
  return definitions.length > 0 ? { tools } : { tools, mayOmitTools: true };
}

/** A run that waits for the caller: for results of its tools, or for its approval. */
export interface PendingRun {
  /** What the run has added to the conversation: turns of the model, results of the agent's tools. */
  added: ChatMessage[];
  /** The ids that the caller knows its calls by, and the model's own. */
  ids: Map<string, string>;
}

/**
 * The calls of one turn that the caller has to run, under new ids. These are the key to the waiting
 * run: models use the same ids again and again, and other callers must not guess them.
 */
export function createCallerCalls(tools: CallerTools) {
  /** By the position of a call in its turn. */
  const known = new Map<number, { id: string; index: number }>();

  function identify(position: number) {
    const found = known.get(position) ??
      { id: `call_${randomHex()}`, index: known.size };
    known.set(position, found);
    return found;
  }

  return {
    /** Announces the pieces of the caller's calls as they come, and leaves out those of the agent's. */
    watch(emit: Emit): Emit {
      const names = new Map<number, string>();
      /** What came before the name of its call. */
      const early = new Map<number, Pick<CallPiece, "arguments" | "extra">>();
      return (event) => {
        if (event.type !== "call") return emit(event);
        const { index: position } = event;
        const name = names.get(position) || event.name || "";
        const before = early.get(position);
        const piece = {
          ...before,
          ...event,
          arguments: (before?.arguments ?? "") + event.arguments,
        };
        names.set(position, name);
        early.delete(position);
        if (!name) early.set(position, piece);
        if (!tools.has(name)) return;
        return emit({ ...piece, name, ...identify(position) });
      };
    },
    /**
     * The calls of a reply: the agent's, and the caller's with the ids that are known to it, each at
     * the index that it was announced with.
     */
    split(calls: ToolCall[]) {
      const own: ToolCall[] = [];
      const theirs: { call: ToolCall; index: number }[] = [];
      const ids: PendingRun["ids"] = new Map();
      for (const [position, call] of calls.entries()) {
        if (!tools.has(call.name)) own.push(call);
        else {
          const { id, index } = identify(position);
          theirs.push({ call: { ...call, id }, index });
          ids.set(id, call.id);
        }
      }
      const inOrder = theirs.toSorted((a, b) => a.index - b.index).map(({ call }) => call);
      return { own, theirs: inOrder, ids };
    },
  };
}

/**
 * Reads what the caller has decided about the calls of the agent's tools that waited for it:
 * `approved` at the end of the conversation lets the call run, `refused` or `refused: <reason>` is
 * passed to the model, and anything else is taken as the tool's result. `given` is the conversation
 * as the caller sent it, `tools` the names of the agent's tools.
 *
 * Returns the conversation without the answers to `approved`, the calls that may run now, and the ids
 * by which the caller knows them, by the model's own.
 */
export function readDecisions(
  history: ChatMessage[],
  { given, tools }: { given: CallerMessage[]; tools: readonly string[] },
) {
  const made = new Map(history.flatMap(toolCallsOf).map((call) => [call.id, call]));
  const end = history.findLastIndex(({ role }) => role !== "tool") + 1;
  const messages: ChatMessage[] = [];
  const approved: ToolCall[] = [];
  const sentIds = new Map<string, string>();
  for (const [index, message] of history.entries()) {
    const call = message.role === "tool" ? made.get(message.toolCallId) : undefined;
    const answer = call && tools.includes(call.name)
      ? ANSWER.exec(textOf(message.content).trim())
      : null;
    if (!call || !answer) messages.push(message);
    else if (answer.groups!.refused !== undefined) {
      messages.push({ ...message, content: refusal(answer.groups!.reason) });
    } else if (index < end) messages.push({ ...message, content: RAN });
    else {
      const sent = given.at(index - history.length);
      approved.push(call);
      if (sent?.role === "tool") sentIds.set(call.id, sent.toolCallId ?? call.id);
    }
  }
  return { messages, approved, sentIds };
}

const ANSWER = /^(approved|(?<refused>refused)(:(?<reason>[^]*))?)$/i;

/** The result of a call that was approved earlier and whose result the caller did not keep. */
const RAN = "(The call was approved and has run. Its result is no longer known.)";

function refusal(reason = ""): string {
  const why = reason.trim();
  return `Error: the user refused this call, and it was not run${why ? `: ${why}` : ""}`;
}

/** The same observer, which sees approved calls under the ids that the caller knows. */
export function withSentIds(
  { signal, emit, onTool }: RunObserver,
  sentIds: ReadonlyMap<string, string>,
): RunObserver {
  const rename = (tell: Emit): Emit => (event) => {
    const isTool = event.type === "tool_call" || event.type === "tool_result";
    return tell(isTool ? { ...event, id: sentIds.get(event.id) ?? event.id } : event);
  };
  return { signal, emit: emit && rename(emit), onTool: onTool && rename(onTool as Emit) };
}
