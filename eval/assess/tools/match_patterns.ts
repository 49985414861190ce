import type { ObservedToolCall, ReferenceTool } from "../../schemas/tools.ts";
import { createYielder } from "../../../shared/yielder.ts";
import { type MatchesPattern, patternsIn, type PatternText, patternTexts } from "./same_args.ts";

/** For each, whether the pattern is found in the text. */
export type MatchTexts = (pairs: PatternText[]) => Promise<boolean[]>;

/** An argument could not be compared with its pattern. */
export class UndecidedPattern extends Error {}

/** Per turn. An endpoint may make any number of calls. */
const MOST_PAIRS = 10_000;

/**
 * Matches the patterns of expected calls with the arguments of the calls made, all at once. Throws
 * `UndecidedPattern` if there are too many.
 */
export async function matchPatterns(
  { expected, made }: { expected: ReferenceTool[]; made: ObservedToolCall[] },
  matchTexts: MatchTexts,
): Promise<MatchesPattern> {
  const pairs: PatternText[] = [];
  /** The index of each pair, by its pattern and its text. */
  const places = new Map<string, Map<string, number>>();
  const yieldIfDue = createYielder();
  for (const { name, args } of expected) {
    if (patternsIn(args).next().done) continue;
    for (const call of made) {
      await yieldIfDue();
      if (call.name !== name || typeof call.args === "string") continue;
      for (const { pattern, text } of patternTexts(args, call.args)) add(pattern, text);
    }
  }
  const found = pairs.length === 0 ? [] : await matchTexts(pairs);
  return (pattern, text) => found[places.get(pattern)!.get(text)!]!;

  /** Adds each pair once. */
  function add(pattern: string, text: string): void {
    const ofPattern = places.getOrInsertComputed(pattern, () => new Map<string, number>());
    if (ofPattern.has(text)) return;
    ofPattern.set(text, pairs.length);
    pairs.push({ pattern, text });
    if (pairs.length <= MOST_PAIRS) return;
    throw new UndecidedPattern(
      `there are more than ${MOST_PAIRS.toLocaleString("en")} arguments to compare with $regex`,
    );
  }
}
