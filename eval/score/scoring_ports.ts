import { z } from "zod";
import type { WebhookScorer } from "../test/evaluate_request.ts";
import type { ContentChecks } from "./content_checks.ts";
import type { ComparedReply } from "./agreement/agreement.ts";
import type { JudgeModel } from "./judge_model.ts";
import type { PairComparer } from "./scores/lexical/pair_scores.ts";
import type { ScoredBy } from "../test/evaluate_response.ts";
import { MEANING } from "./scores/similarity_method.ts";

/** The answer of a caller's own scorer; a `score` of `null` is missing. */
export const WebhookAnswer = z.object({
  score: z.number().min(0).max(1).nullable(),
  reason: z.string().optional(),
});
export type WebhookAnswer = z.infer<typeof WebhookAnswer>;

/** Posts a turn to a caller's own scorer. Throws `ProviderError`. */
export type AskScorer = (
  scorer: WebhookScorer,
  turn: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<WebhookAnswer>;

/** Converts texts to vectors whose cosine is the similarity of their meanings. */
export interface Embedder extends Disposable {
  /** The name of the encoder in answers. */
  readonly method: string;
  /** Rejects if the encoder fails; users may read the message. */
  embed(text: string): Promise<Float32Array>;
  /** Whether a reply follows from its reference, or contradicts it. Only of the built-in encoder. */
  compare?(pair: { reply: string; reference: string }): Promise<ComparedReply>;
}

/** What scoring needs besides the texts. Created once per process. */
export interface ScoringPorts {
  pairs: PairComparer;
  checks: ContentChecks;
  embedder: Embedder;
  judge?: JudgeModel;
  /** Another model where the judge is; unset if no judge is configured. */
  judgeNamed?(model: string): JudgeModel;
  askScorer: AskScorer;
}

/**
 * The judge and the encoder that score a run. They are stored with the run: if it is resumed with
 * another configuration, two scales must not be mixed in one mean.
 */
export function describeScoring({ judge, embedder }: ScoringPorts): ScoredBy {
  return { judge: judge?.name ?? null, embeddings: embedder.compare ? MEANING : embedder.method };
}
