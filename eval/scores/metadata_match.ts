import type { Interaction, Metadata, Scores } from "../../shared/schemas/evaluate.ts";
import { isSameLabel, UNKNOWN } from "../metadata/label.ts";
import { mean } from "../statistics.ts";

/**
 * `<key>_match` for each key of the reference metadata: 1 where the reply's annotation is the
 * expected one, else 0; `null` where no annotator could tell; and `metadata_match`, their mean. A
 * blank reply matches nothing: a model that stops answering must not gain by it. The mean also
 * counts a key called `metadata`, whose own match has no name left.
 */
export function matchMetadata(
  { reference_metadata }: Interaction,
  { reply, generatedMetadata }: { reply: string; generatedMetadata: Metadata },
): Scores {
  const isBlank = reply.trim() === "";
  const matches: Scores = {};
  for (const [key, expected] of Object.entries(reference_metadata)) {
    const found = Object.hasOwn(generatedMetadata, key) ? generatedMetadata[key] : undefined;
    if (isBlank) matches[`${key}_match`] = 0;
    else if (found === undefined) matches[`${key}_match`] = null;
    else if (isSameLabel(found, expected)) matches[`${key}_match`] = 1;
    else matches[`${key}_match`] = found === UNKNOWN ? null : 0;
  }
  const told = Object.values(matches).filter((value) => value !== null);
  return { ...matches, metadata_match: mean(told) };
}
