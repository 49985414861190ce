import { z } from "zod";
import type { WebhookScorer } from "../schemas/evaluate_request.ts";
import type { ContentChecks } from "./checks/content_checks.ts";
import type { Embedder } from "./embeddings/embedder.ts";
import type { JudgeModel } from "./judge/model.ts";
import type { PairComparer } from "./scores/lexical/pair_scores.ts";
import type { ScoredBy } from "../schemas/evaluate_response.ts";
import { AGREEMENT, CALIBRATION } from "./scores/similarity_method.ts";

/** What a scorer of the caller's own answers; a `score` of `null` says that it has none. */
export const WebhookAnswer = z.object({
  score: z.number().min(0).max(1).nullable(),
  reason: z.string().optional(),
});
export type WebhookAnswer = z.infer<typeof WebhookAnswer>;

/** Posts a turn to a scorer of the caller's own. Throws `ProviderError`. */
export type AskScorer = (
  scorer: WebhookScorer,
  turn: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<WebhookAnswer>;

/** What scoring needs beside the texts. It lives as long as the process. */
export interface ScoringPorts {
  pairs: PairComparer;
  checks: ContentChecks;
  embedder: Embedder;
  judge?: JudgeModel;
  askScorer: AskScorer;
}

/**
 * What scores a run's meanings and grades. A run that is resumed with another configuration must not
 * mix two scales in one mean, so it is stored with the run.
 */
export function describeScoring({ judge, embedder }: ScoringPorts): ScoredBy {
  const { method, cjk, isEnglishOnly: isCalibrated } = embedder;
  const methods = cjk ? `${method}+${cjk.method}` : method;
  const embeddings = isCalibrated ? `${methods}/${CALIBRATION}-${AGREEMENT}` : method;
  return { judge: judge?.name ?? null, embeddings };
}
