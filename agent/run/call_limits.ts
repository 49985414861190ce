import type { ToolCall } from "../../shared/providers/provider.ts";

/** What the tool calls of one turn may take together. */
export interface TurnLimits {
  /** Calls that are run; the rest are answered with an error. */
  maxCalls: number;
  /** Calls that run at the same time. */
  atOnce: number;
  /** Length of all arguments together; calls beyond it are answered with an error. */
  maxArgumentCharacters: number;
  /** Length of all results together: each may have its share of it. */
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
  /** What the model is told about the others, by id. */
  refusals: Map<string, string>;
  /** All calls, without the arguments that are too long: these would be sent again at each step. */
  kept: ToolCall[];
}

/**
 * Picks the calls of one turn that may be run. It depends on the calls alone, so that the history
 * and the tools agree.
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
  return `too many calls in one turn: ${asked} were asked for, the first ${run} were run, and this ` +
    "one was not; read the results, then make the calls that are still needed in the next turn";
}

function tooLong(length: number, limit: number): string {
  return `the arguments are too long: these have ${length} characters, and those of one turn may ` +
    `have ${limit} together; this call was not run: send less at a time`;
}
