import { shorten } from "../../shared/text.ts";

/** What became of a check: met (1), not met (0), or missing (`null`), each but 1 with a reason. */
export interface Decision {
  value: 0 | 1 | null;
  reason?: string;
  /** The reply does not tell: neither the check nor its opposite is met. */
  isUntold?: true;
}

const MET: Decision = { value: 1 };

export function notMet(reason: string): Decision {
  return { value: 0, reason };
}

/** The check itself could not be carried out: the judge is down, its pattern takes too long. */
export function undecided(reason: string): Decision {
  return { value: null, reason };
}

/** The check works and the reply does not tell: it has not been met, nor has its opposite. */
export function untold(reason: string): Decision {
  return { value: 0, reason, isUntold: true };
}

/** Met if `holds`, else not met for this reason. */
export function decide(holds: boolean, reason: string): Decision {
  return holds ? MET : notMet(reason);
}

/** The opposite; what is not decided stays so, and what is not told too. */
export function negated(decision: Decision): Decision {
  if (decision.value === null || decision.isUntold) return decision;
  return decision.value === 1 ? notMet("it is so, and must not be") : MET;
}

const SHOWN_CHARACTERS = 60;
/** Of several values the first are shown. */
const SHOWN_VALUES = 3;

/** Somebody else's text for a name or a reason: quoted, short and on one line. */
export function oneLineOf(text: string): string {
  return JSON.stringify(shorten(text, SHOWN_CHARACTERS, "…"));
}

/** The first of some values, and how many more there are. */
export function listOf(values: string[], separator = ", "): string {
  const shown = values.slice(0, SHOWN_VALUES).map(oneLineOf).join(separator);
  const more = values.length - SHOWN_VALUES;
  return more > 0 ? `${shown} and ${more} more` : shown;
}
