import type { AgreementLabel, InteractionResult } from "../../schemas/interaction_result.ts";
import { agreementOf } from "../../schemas/barred.ts";
import { HEADLINE } from "../../results/passing.ts";
import { outcomeOf } from "../../results/outcome.ts";

/** An answered turn that did not pass or has a label: in the attempt in which it was lowest. */
export interface LowTurn {
  scenario: number;
  /** Counts from 0, as `attempt` does. */
  turn: number;
  attempt: number;
  result: InteractionResult;
}

const KEPT = 5;
/** Of one label, which somebody asked for. */
const KEPT_OF_LABEL = 50;

/** The lowest turns of those that were added, lowest first; a conversation's turn is among them once. */
export function createLowestTurns(threshold: number, label?: AgreementLabel) {
  let lowest: LowTurn[] = [];
  return {
    add(added: LowTurn): void {
      const { result } = added;
      const isWanted = label
        ? agreementOf(result) === label
        : outcomeOf(result, threshold) === "below";
      if (!isWanted) return;
      const known = lowest.find((low) => isSameTurn(low, added));
      if (known && overallOf(known) <= overallOf(added)) return;
      lowest = [...lowest.filter((low) => low !== known), added]
        .sort((a, b) => overallOf(a) - overallOf(b)).slice(0, label ? KEPT_OF_LABEL : KEPT);
    },
    list: () => lowest,
  };
}

function isSameTurn(a: LowTurn, b: LowTurn): boolean {
  return a.scenario === b.scenario && a.turn === b.turn;
}

/** A turn may fail a required check before its score is known. */
function overallOf({ result }: LowTurn): number {
  return result.scores[HEADLINE] ?? result.overall_bounds?.[0] ?? 0;
}
