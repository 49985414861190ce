import type {
  CallPiece,
  ChatMessage,
  ChatRequest,
  ToolCall,
  ToolDefinition,
} from "../../shared/providers/provider.ts";
import type { AgentEvent, Emit } from "./events.ts";
import { randomHex } from "../../shared/random_hex.ts";

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
): Pick<ChatRequest, "mayOmitTools"> & { tools: ToolDefinition[] } {
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

/** The calls of one turn that the caller has to run, under new ids. */
interface CallerCalls {
  /** Announces the pieces of the caller's calls as they come, and leaves out those of the agent's. */
  watch(emit: Emit): Emit;
  /**
   * The calls of a reply: the agent's, and the caller's with the ids that are known to it, each at
   * the index that it was announced with.
   */
  split(calls: ToolCall[]): { own: ToolCall[]; theirs: ToolCall[]; ids: PendingRun["ids"] };
}

/**
 * The ids are new because they are the key to the waiting run: models use the same ids again and
 * again, and other callers must not guess them.
 */
export function createCallerCalls(tools: CallerTools): CallerCalls {
  /** By the position of a call in its turn. */
  const known = new Map<number, { id: string; index: number }>();

  function identify(position: number) {
    const found = known.get(position) ??
      { id: `call_${randomHex()}`, index: known.size };
    known.set(position, found);
    return found;
  }

  return {
    watch(emit) {
      const names = new Map<number, string>();
      /** What came before the name of its call. */
      const early = new Map<number, Pick<CallPiece, "arguments" | "extra">>();
      return (event: AgentEvent) => {
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
    split(calls) {
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
