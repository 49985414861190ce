import { z } from "zod";
import type { WebhookScorer } from "../schemas/evaluate_request.ts";
import type { ContentChecks } from "./checks/content_checks.ts";
import type { Embedder } from "./embeddings/embedder.ts";
import type { JudgeModel } from "./judge/model.ts";
import type { LanguageDetector } from "./language/detector.ts";
import type { PairComparer } from "./scores/lexical/pair_scores.ts";

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
  detector: LanguageDetector;
  judge?: JudgeModel;
  askScorer: AskScorer;
}
