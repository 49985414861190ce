import type { Interaction, Metadata, Scores } from "../../shared/schemas/evaluate.ts";

/**
 * `<key>_match` for each key of the reference metadata: 1 where the reply's annotation is the
 * expected one, else 0; `null` where no annotator could tell. A blank reply matches nothing: a
 * model that stops answering must not gain by it.
 */
export function matchMetadata(
  { reference_metadata }: Interaction,
  { reply, generatedMetadata }: { reply: string; generatedMetadata: Metadata },
): Scores {
  const isBlank = reply.trim() === "";
  const scores: Scores = {};
  for (const [key, expected] of Object.entries(reference_metadata)) {
    const found = generatedMetadata[key];
    if (isBlank) scores[`${key}_match`] = 0;
    else if (found === undefined) scores[`${key}_match`] = null;
    else scores[`${key}_match`] = normalise(found) === normalise(expected) ? 1 : 0;
  }
  return scores;
}

function normalise(value: unknown): string {
  return typeof value === "string" ? value.trim().toLowerCase() : JSON.stringify(value);
}
