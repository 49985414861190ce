import { shorten } from "../../shared/service/text.ts";

/** The result of a check: met (1), not met (0) or undecided (`null`). All but 1 have a reason. */
export interface Decision {
  value: 0 | 1 | null;
  reason?: string;
  /** The reply does not show it: neither the check nor its opposite is met. */
  isUntold?: true;
}

const MET: Decision = { value: 1 };

export function notMet(reason: string): Decision {
  return { value: 0, reason };
}

/** The check itself failed: the judge is down, or its pattern takes too long. */
export function undecided(reason: string): Decision {
  return { value: null, reason };
}

/** The reply does not show whether the check is met: neither the check nor its opposite is met. */
export function untold(reason: string): Decision {
  return { value: 0, reason, isUntold: true };
}

/** Met if `holds`, else not met with this reason. */
export function decide(holds: boolean, reason: string): Decision {
  return holds ? MET : notMet(reason);
}

/** The opposite decision; undecided and untold decisions stay as they are. */
export function negated(decision: Decision): Decision {
  if (decision.value === null || decision.isUntold) return decision;
  return decision.value === 1 ? notMet("it holds, but the check is negated") : MET;
}

const SHOWN_CHARACTERS = 60;
const SHOWN_VALUES = 3;

/** A caller's text in a name or a reason: quoted, shortened and on one line. */
export function oneLineOf(text: string): string {
  return JSON.stringify(shorten(text, SHOWN_CHARACTERS, "…"));
}

/** The first values, and the number of the others. */
export function listOf(values: string[], separator = ", "): string {
  const shown = values.slice(0, SHOWN_VALUES).map(oneLineOf).join(separator);
  const more = values.length - SHOWN_VALUES;
  return more > 0 ? `${shown} and ${more} more` : shown;
}
