import type { ContentChecks } from "./checks/content_checks.ts";
import type { Embedder } from "./embeddings/embedder.ts";
import type { JudgeModel } from "./judge/model.ts";
import type { LanguageDetector } from "./language/detector.ts";
import type { PairComparer } from "./scores/pair_scores.ts";

/** What scoring needs beside the texts. It lives as long as the process. */
export interface ScoringPorts {
  pairs: PairComparer;
  checks: ContentChecks;
  embedder: Embedder;
  detector: LanguageDetector;
  judge?: JudgeModel;
}
