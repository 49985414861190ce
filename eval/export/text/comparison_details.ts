import type { Comparison } from "../../compare/comparison.ts";
import {
  listPairsByScore,
  type PairedScenarioRow,
  type PairedTurnRow,
} from "../../compare/pair_lists.ts";
import type { RunReader } from "../../store/store.ts";

/** Turns with both replies, by score. */
const MOST_TURNS = 20;

/** What a report of a comparison has beside the comparison itself. */
export interface ComparisonDetails {
  /** By score: everything that both runs share. */
  scenarios: Record<string, PairedScenarioRow[]>;
  /** By score: the turns that changed most. */
  turns: Record<string, PairedTurnRow[]>;
  /** By run and place (`id/scenario/1/turn`): an `InteractionResult` as JSON text. */
  replies: Map<string, string>;
}

/** Reads both runs once, and the replies of the turns that changed most. */
export async function readDetails(
  reader: RunReader,
  { result, ids }: { result: Comparison; ids: { baseline: string; candidate: string } },
): Promise<ComparisonDetails> {
  const lists = await listPairsByScore(
    reader,
    ids,
    (common) => common.filter((name) => name in result.scores),
  );
  const details: ComparisonDetails = { scenarios: {}, turns: {}, replies: new Map() };
  for (const [score, { scenarios, turns }] of lists) {
    details.scenarios[score] = scenarios;
    details.turns[score] = turns
      .toSorted((a, b) => Math.abs(b.difference) - Math.abs(a.difference)).slice(0, MOST_TURNS);
  }
  for (const turn of Object.values(details.turns).flat()) {
    for (const side of ["baseline", "candidate"] as const) {
      const { scenario, turn: position } = turn[side];
      const key = `${ids[side]}/${scenario}/1/${position}`;
      if (details.replies.has(key)) continue;
      const place = { scenario, attempt: 0, turn: position };
      const [found] = await reader.conversation(ids[side], place, 1);
      if (found?.resultJson && found.turn === position) details.replies.set(key, found.resultJson);
    }
  }
  return details;
}
