import type { ObservedToolCall, ReferenceTool, ToolsMode } from "../../test/tools.ts";
import { createYielder } from "../../../shared/service/waiting.ts";
import { countItems, countShared, lcsLength } from "../text/overlap.ts";
import {
  type MatchesPattern,
  patternsIn,
  type PatternText,
  patternTexts,
  shareOfArguments,
} from "../same_args.ts";

/**
 * Compares the calls that were made with those expected; each score is in [0, 1]. Throws what
 * `matchTexts` throws.
 */
export async function compareTools(
  { expected, made, mode }: {
    expected: ReferenceTool[];
    made: ObservedToolCall[];
    mode: ToolsMode;
  },
  matchTexts: MatchTexts,
) {
  const matches = await matchPatterns({ expected, made }, matchTexts);
  const shares = await shareMatrix(expected, made, matches);
  const wanted = expected.map(({ name }) => name);
  const found = made.map(({ name }) => name);
  return {
    f1: nameF1(wanted, found),
    /** `null` if no expected call has arguments. */
    args: scoreArguments(expected, shares),
    order: nameOrder(wanted, found),
    /** Whether the calls fit by the mode. */
    fits: fits(shares, { mode, made: made.length }),
  };
}

/**
 * For each expected call and each call made: the share of arguments that are as expected, 1 if none
 * are asked for; `null` if the names differ.
 */
async function shareMatrix(
  expected: ReferenceTool[],
  made: ObservedToolCall[],
  matches: MatchesPattern,
): Promise<(number | null)[][]> {
  const rows: (number | null)[][] = [];
  const yieldIfDue = createYielder(); // an endpoint may have made any number of calls
  for (const { name, args } of expected) {
    const row: (number | null)[] = [];
    for (const call of made) {
      await yieldIfDue();
      if (call.name !== name) row.push(null);
      else row.push(args ? shareOfArguments(args, call.args, matches) : 1);
    }
    rows.push(row);
  }
  return rows;
}

/** If none is expected, 1 without calls and 0 with any. */
function nameF1(wanted: string[], found: string[]): number {
  if (wanted.length + found.length === 0) return 1;
  const common = countShared(countItems(wanted), countItems(found));
  return 2 * common / (wanted.length + found.length);
}

/** The longest common subsequence of the names / the length of the longer list. */
function nameOrder(wanted: string[], found: string[]): number {
  const longer = Math.max(wanted.length, found.length);
  return longer === 0 ? 1 : lcsLength(wanted, found) / longer;
}

/**
 * The mean over the expected calls that have arguments; a call that was not made counts 0. Each is
 * paired with a call of its name, the best pairs first.
 */
function scoreArguments(expected: ReferenceTool[], shares: (number | null)[][]): number | null {
  const rows = expected.flatMap(({ args }, index) => args ? [index] : []);
  if (rows.length === 0) return null;
  const pairs = rows.flatMap((row) =>
    shares[row]!.flatMap((share, column) => share === null ? [] : [{ row, column, share }])
  ).sort((a, b) => b.share - a.share);
  const takenRows = new Set<number>();
  const takenColumns = new Set<number>();
  let sum = 0;
  for (const { row, column, share } of pairs) {
    if (takenRows.has(row) || takenColumns.has(column)) continue;
    takenRows.add(row);
    takenColumns.add(column);
    sum += share;
  }
  return sum / rows.length;
}

function fits(
  shares: (number | null)[][],
  { mode, made }: { mode: ToolsMode; made: number },
): boolean {
  const expected = shares.length;
  if (mode === "exact") {
    return made === expected && shares.every((row, index) => row[index] === 1);
  }
  const matched = largestMatching(shares, made);
  const hasAll = matched === expected;
  const hasNoOther = matched === made;
  if (mode === "subset") return hasNoOther;
  return mode === "superset" ? hasAll : hasAll && hasNoOther;
}

/**
 * The largest number of expected calls that can be paired with fitting calls. A call that fits
 * several (`$any`) must not block another, so pairs are exchanged along augmenting paths.
 */
function largestMatching(shares: (number | null)[][], made: number): number {
  const partner = new Array<number>(made).fill(-1);

  function place(row: number, visited: Set<number>): boolean {
    for (const [column, share] of shares[row]!.entries()) {
      if (share !== 1 || visited.has(column)) continue;
      visited.add(column);
      const holder = partner[column]!;
      if (holder >= 0 && !place(holder, visited)) continue;
      partner[column] = row;
      return true;
    }
    return false;
  }

  return shares.reduce((count, _, row) => count + Number(place(row, new Set())), 0);
}

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
async function matchPatterns(
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
