import { squadForm } from "../text/squad_tokens.ts";

/** 1 if both texts are the same after SQuAD v1.1 normalisation, else 0. */
export function exactMatch(reply: string, reference: string): number {
  return squadForm(reply) === squadForm(reference) ? 1 : 0;
}
