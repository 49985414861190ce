import { ProviderError } from "../../../shared/providers/provider.ts";
import type { JudgeResult } from "../../schemas/interaction_result.ts";
import type { JudgeModel } from "./model.ts";
import { askStructured, type StructuredQuestion, UnreadableAnswer } from "./structured.ts";

export interface VoteOptions {
  model: JudgeModel;
  /** How often the judge is asked. */
  votes: number;
  signal: AbortSignal;
}

/** A vote, or why there is none. */
type Vote<T> = T | NonNullable<JudgeResult["error"]>;

/**
 * Asks the judge `votes` times at once; `question` is called for each, so that each has marks of its
 * own. Rejects once aborted.
 */
export function askVotes<T>(
  question: () => Omit<StructuredQuestion<T>, "temperature">,
  options: VoteOptions,
): Promise<Vote<T>[]> {
  return Promise.all(Array.from({ length: options.votes }, () => askVote(question(), options)));
}

async function askVote<T>(
  question: StructuredQuestion<T>,
  { model, votes, signal }: VoteOptions,
): Promise<Vote<T>> {
  // One vote should be the same tomorrow; several should be able to differ.
  const temperature = votes === 1 ? { temperature: 0 } : {};
  try {
    return await askStructured({ ...question, ...temperature }, { model, signal });
  } catch (error) {
    if (error instanceof UnreadableAnswer) return "judge_unreadable";
    if (error instanceof ProviderError) return "judge_unavailable";
    throw error;
  }
}
