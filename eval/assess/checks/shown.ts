import { shorten } from "../../../shared/shorten.ts";

const SHOWN_CHARACTERS = 60;

/** Somebody else's text for a name or a reason: quoted, short and on one line. */
export function oneLineOf(text: string): string {
  return JSON.stringify(shorten(text, SHOWN_CHARACTERS, "…"));
}
