import { textOf } from "../../shared/providers/content.ts";
import type { ChatMessage, ToolCall } from "../../shared/providers/provider.ts";
import type { CallerMessage } from "./caller_messages.ts";
import type { Emit, RunObserver } from "./events.ts";

/** What the caller has decided about the calls of the agent's tools that waited for it. */
interface Decided {
  /** The conversation without the answers to `approved`. */
  messages: ChatMessage[];
  /** The calls that may run now. */
  approved: ToolCall[];
  /** The ids by which the caller knows them, by the model's own. */
  sentIds: Map<string, string>;
}

/**
 * Reads the answers to calls of the agent's tools: `approved` at the end of the conversation lets
 * the call run, `refused` or `refused: <reason>` is passed to the model, and anything else is taken
 * as the tool's result. `given` is the conversation as the caller sent it, `tools` the names of the
 * agent's tools.
 */
export function readDecisions(
  history: ChatMessage[],
  { given, tools }: { given: CallerMessage[]; tools: readonly string[] },
): Decided {
  const made = new Map(
    history.flatMap((message) =>
      message.role === "assistant" ? (message.toolCalls ?? []).map((call) => [call.id, call]) : []
    ),
  );
  const end = history.findLastIndex(({ role }) => role !== "tool") + 1;
  const decided: Decided = { messages: [], approved: [], sentIds: new Map() };
  for (const [index, message] of history.entries()) {
    const call = message.role === "tool" ? made.get(message.toolCallId) : undefined;
    const answer = call && tools.includes(call.name)
      ? ANSWER.exec(textOf(message.content).trim())
      : null;
    if (!call || !answer) decided.messages.push(message);
    else if (answer.groups!.refused !== undefined) {
      decided.messages.push({ ...message, content: refusal(answer.groups!.reason) });
    } else if (index < end) decided.messages.push({ ...message, content: RAN });
    else {
      const sent = given.at(index - history.length);
      decided.approved.push(call);
      if (sent?.role === "tool") decided.sentIds.set(call.id, sent.toolCallId ?? call.id);
    }
  }
  return decided;
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
