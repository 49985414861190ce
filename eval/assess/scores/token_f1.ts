import { countItems, countShared, f1 } from "../text/overlap.ts";
import { squadTokens } from "../text/squad_tokens.ts";

/**
 * F1 over the bags of SQuAD tokens. If normalisation leaves nothing of both ("The" and "A"), they
 * match exactly and so score 1, as in SQuAD's v2.0 script; v1.1 gives 0.
 */
export function tokenF1(reply: string, reference: string): number {
  const found = squadTokens(reply);
  const wanted = squadTokens(reference);
  if (found.length === 0 && wanted.length === 0) return 1;
  return f1(countShared(countItems(found), countItems(wanted)), {
    found: found.length,
    wanted: wanted.length,
  });
}
