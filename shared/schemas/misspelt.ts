import { distance } from "fastest-levenshtein";
import type { z } from "zod";

/** Names shorter than this are too near to too many others: `id`. */
const SHORTEST = 5;
/** In a name of this length two letters may be wrong. */
const LONG = 10;

/**
 * Refuses unknown fields whose names are nearly those of known ones: `chekcs`, `reference_tool`.
 * Others are the caller's own.
 */
export function refuseMisspelt(known: readonly string[]) {
  return (value: Record<string, unknown>, { addIssue }: z.RefinementCtx): void => {
    for (const name of Object.keys(value)) {
      if (known.includes(name)) continue;
      const meant = known.find((one) => isNearly(name, one));
      if (meant === undefined) continue;
      const message = `unknown field; did you mean ${meant}?`;
      addIssue({ code: "custom", path: [name], message });
    }
  };
}

function isNearly(name: string, known: string): boolean {
  if (known.length < SHORTEST || Math.abs(name.length - known.length) > 2) return false;
  const wrong = distance(name.toLowerCase(), known);
  return wrong <= 1 || (wrong === 2 && (known.length >= LONG || sorted(name) === sorted(known)));
}

function sorted(name: string): string {
  return [...name.toLowerCase()].sort().join("");
}
