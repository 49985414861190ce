/**
 * Models whose providers take messages in any order, by their ids: a system message within a
 * conversation, or two users in a row. Others refuse it (Mistral, and the templates of Llama and
 * Gemma), or are not known to take it.
 */
const TAKE_IT = /^((openai|azure|x-?ai)\/|gpt-|chatgpt-|o\d\b)/i;

/** True if all of these models take messages in any order. */
export function takeAnyOrder(models: string[]): boolean {
  return models.every((model) => TAKE_IT.test(model));
}
