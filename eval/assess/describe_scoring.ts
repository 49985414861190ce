import type { ScoredBy } from "../schemas/evaluate_response.ts";
import { AGREEMENT, CALIBRATION } from "./scores/similarity_method.ts";
import type { ScoringPorts } from "./scoring_ports.ts";

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
