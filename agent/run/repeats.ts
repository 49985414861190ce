import type { ChatMessage, ToolCall } from "../../shared/providers/provider.ts";
import { parseArguments } from "./arguments.ts";
import { functionName } from "./tool_call.ts";
import { limitTurn, type TurnLimits } from "./call_limits.ts";

/** How often the same call is served in one run. */
const MOST = 2;

/**
 * Finds the calls that the model makes for the third time with the same arguments, by id, and what
 * it is told instead of their result. `said` is what the run has added to the conversation, the
 * message with `calls` included. Earlier calls that were over a turn's limit do not count: they
 * were not run.
 */
export function refuseRepeats(
  calls: ToolCall[],
  { said, limits }: { said: ChatMessage[]; limits?: Partial<TurnLimits> | undefined },
): Map<string, string> {
  const current = new Set(calls.map(({ id }) => id));
  const counts = new Map<string, number>();
  for (const message of said) {
    const earlier = message.role === "assistant" ? message.toolCalls ?? [] : [];
    for (const call of limitTurn(earlier, limits).accepted) {
      if (!current.has(call.id)) count(counts, call);
    }
  }
  const refused = calls.filter((call) => count(counts, call) > MOST);
  return new Map(refused.map(({ id, name }) => [
    id,
    `this call of ${name} was made ${MOST} times before with the same arguments, and its results ` +
    "stand above; it was not made again: use them, change the arguments, or answer without",
  ]));
}

function count(counts: Map<string, number>, call: ToolCall): number {
  const args = parseArguments(call.arguments);
  const key = `${functionName(call.name)} ${args ? JSON.stringify(args) : call.arguments}`;
  const total = (counts.get(key) ?? 0) + 1;
  counts.set(key, total);
  return total;
}
