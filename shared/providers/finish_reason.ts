import { asText, type Fields } from "../fields.ts";

/**
 * The `finish_reason` of a choice; `null` as long as it has none. Some servers send `""` or `"null"`
 * with every chunk instead.
 */
export function readFinishReason({ finish_reason }: Fields): string | null {
  const reason = asText(finish_reason)?.trim();
  return reason && reason !== "null" ? reason : null;
}

/** Whether a model stopped because it reached its token limit, in the words of several vendors. */
export function isTruncated(finishReason: string | null | undefined): boolean {
  return /^(length|max_tokens|model_length)$/i.test(finishReason ?? "");
}
