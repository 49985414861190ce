/** Whether a model stopped because it reached its token limit, in the words of several vendors. */
export function isTruncated(finishReason: string | null | undefined): boolean {
  return /^(length|max_tokens|model_length)$/i.test(finishReason ?? "");
}
