import { shorten } from "../../../shared/shorten.ts";

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
