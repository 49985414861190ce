/**
 * Models whose providers take a system message at any place of a conversation, by their ids. Others
 * refuse it (Mistral, and the templates of Llama and Gemma), or are not known to take it.
 */
const TAKE_IT = /^((openai|azure|x-?ai)\/|gpt-|chatgpt-|o\d\b)/i;

/** True if all of these models take system messages within a conversation. */
export function takeSystemAnywhere(models: string[]): boolean {
  return models.every((model) => TAKE_IT.test(model));
}
