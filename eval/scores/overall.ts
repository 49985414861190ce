import type { Scores } from "../../shared/schemas/evaluate.ts";
import { mean } from "../statistics.ts";

/** The headline: the mean of all the scores that a reply has; `null` where it has none. */
export function overall(scores: Scores): number | null {
  return mean(Object.values(scores).filter((value) => typeof value === "number"));
}
