import { squadTokens } from "../text/squad_tokens.ts";
import { scoreOfEmpty } from "./empty.ts";

/** 1 where both texts are the same after SQuAD v1.1 normalisation, else 0. */
export function exactMatch(reply: string, reference: string): number {
  const empty = scoreOfEmpty(reply, reference);
  if (empty !== undefined) return empty;
  return squadTokens(reply).join(" ") === squadTokens(reference).join(" ") ? 1 : 0;
}
