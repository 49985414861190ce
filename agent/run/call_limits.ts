import type { ChatMessage, ToolCall } from "../../shared/providers/provider.ts";
import { functionName } from "../tools/names.ts";
import { parseToolArguments } from "./tool_call.ts";

/** Limits of all the tool calls of one turn together. */
export interface TurnLimits {
  /** Calls that are run. The others are answered with an error. */
  maxCalls: number;
  /** Calls that run at the same time. */
  atOnce: number;
  /** Length of all arguments together. Calls beyond it are answered with an error. */
  maxArgumentCharacters: number;
  /** Length of all results together. Each result may have an equal share of it. */
  maxResultCharacters: number;
}

export const TURN_LIMITS: TurnLimits = {
  maxCalls: 64,
  atOnce: 16,
  maxArgumentCharacters: 1_000_000,
  maxResultCharacters: 400_000,
};

/** The calls of a turn, sorted by whether they may be run. */
export interface LimitedTurn {
  accepted: ToolCall[];
  /** The errors that the model gets for the others, by call id. */
  refusals: Map<string, string>;
  /** All calls, without arguments that are too long: they would be sent again at every step. */
  kept: ToolCall[];
}

/**
 * Picks the calls of one turn that are run. The result depends on the calls alone, so that the
 * history and the tools agree.
 */
export function limitTurn(
  calls: ToolCall[],
  limits: Partial<TurnLimits> = {},
): LimitedTurn {
  const { maxCalls, maxArgumentCharacters } = { ...TURN_LIMITS, ...limits };
  const accepted: ToolCall[] = [];
  const refusals = new Map<string, string>();
  let characters = 0;
  const kept = calls.map((call) => {
    const { length } = call.arguments;
    if (characters + length > maxArgumentCharacters) {
      refusals.set(call.id, tooLong(length, maxArgumentCharacters));
      return { ...call, arguments: "{}" };
    }
    characters += length;
    if (accepted.length < maxCalls) accepted.push(call);
    else refusals.set(call.id, tooMany(calls.length, maxCalls));
    return call;
  });
  return { accepted, refusals, kept };
}

function tooMany(asked: number, run: number): string {
  return `too many calls in one turn: only the first ${run} of ${asked} were run, and this one was ` +
    "not; read the results, then make the calls that are still needed in the next turn";
}

function tooLong(length: number, limit: number): string {
  return `the arguments are too long: they have ${length} characters, and all arguments of one ` +
    `turn may have ${limit} together; this call was not run: send less at a time`;
}

/** How often a call with the same arguments is run in one run. */
const MAX_REPEATS = 2;

/**
 * Finds the calls that the model makes for the third time with the same arguments. Returns their ids
 * and the error that the model gets as their result. `added` are the messages that the run has
 * added to the conversation, including the one with `calls`. Earlier calls over the limits of their
 * turn do not count: they were not run.
 */
export function refuseRepeats(
  calls: ToolCall[],
  { added, limits }: { added: ChatMessage[]; limits?: Partial<TurnLimits> | undefined },
): Map<string, string> {
  const current = new Set(calls.map(({ id }) => id));
  const counts = new Map<string, number>();
  for (const message of added) {
    const earlier = message.role === "assistant" ? message.toolCalls ?? [] : [];
    for (const call of limitTurn(earlier, limits).accepted) {
      if (!current.has(call.id)) count(counts, call);
    }
  }
  const refused = calls.filter((call) => count(counts, call) > MAX_REPEATS);
  return new Map(refused.map(({ id, name }) => [
    id,
    `${name} was already called ${MAX_REPEATS} times with these arguments, and this call was not ` +
    "run; use the earlier results, change the arguments, or answer without them",
  ]));
}

function count(counts: Map<string, number>, call: ToolCall): number {
  const args = parseToolArguments(call.arguments);
  const key = `${functionName(call.name)} ${args ? JSON.stringify(args) : call.arguments}`;
  const total = (counts.get(key) ?? 0) + 1;
  counts.set(key, total);
  return total;
}
