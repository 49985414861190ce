import { z } from "zod";
import { mean } from "../score/mean.ts";
import {
  detectableDifference,
  MOST_SCENARIOS,
  POWER,
  scenariosNeeded,
  stepOfDifferences,
} from "./compare/statistics/planning.ts";
import { ALPHA } from "./summary/mean_interval.ts";
import { noiseOfMean, varianceComponents } from "./noise/components.ts";
import { type NoisyTurn, readConversations } from "./noise/conversations.ts";
import { requireScores } from "./detail.ts";

/** Scores lie in [0, 1]. */
const LARGEST_DIFFERENCE = 1;

/** One run does not show how another model differs from it; these are the extreme cases. */
function ends<T extends z.ZodType>(value: T) {
  return z.object({
    /** If the other model differs by the same amount in every scenario. */
    at_least: value.nullable(),
    /** If the scores of both models in a scenario are unrelated. */
    at_most: value.nullable(),
  });
}

/** The answer of `GET /runs/{id}/power`. */
export const RunPower = z.object({
  run_id: z.string(),
  score: z.string(),
  /** The difference to show between two runs over the same scenarios. */
  difference: z.number(),
  /** The chance of a verdict if the difference is real. */
  power: z.number(),
  /** Of this run. */
  scenarios: z.int(),
  /** The standard deviation of the scenarios' differences. */
  stdev: ends(z.number()).meta({ id: "PowerStdev" }),
  /**
   * The number of similar scenarios, with the attempts and votes of this run; `null` if it is
   * unknown or above a billion.
   */
  scenarios_needed: ends(z.int()).meta({ id: "ScenariosNeeded" }),
  /**
   * The smallest difference that as many scenarios as in this run would show; `null` if they would
   * not even show a difference of 1.
   */
  detectable_difference: ends(z.number()).meta({ id: "DetectableDifference" }),
  notes: z.array(z.string()),
}).meta({ id: "RunPower" });
export type RunPower = z.infer<typeof RunPower>;

/**
 * The number of scenarios that would show a difference to another run over the same scenarios. The
 * differences vary at least by the noise of both runs' attempts and votes, and at most as much as
 * two unrelated scenarios. Throws 400 for a score that the run does not have.
 */
export async function planPower(
  runId: string,
  turns: AsyncIterable<NoisyTurn>,
  { score, difference }: { score: string; difference: number },
): Promise<RunPower> {
  const run = await readConversations(turns, [score]);
  requireScores(run.names, { wanted: [score], parameter: "score" });
  const scenarios = run.scores.get(score)!;
  const stdev = stdevOf(scenarios, run.voteSpread);
  const step = stepOfDifferences(scenarios.map((own) => own.map(({ value }) => value)));
  const needed = (stdev: number | null) =>
    stdev === null ? null : scenariosNeeded({ difference, stdev, alpha: ALPHA, step });
  const detectable = (stdev: number | null) => {
    if (stdev === null) return null;
    const found = detectableDifference({ scenarios: scenarios.length, stdev, alpha: ALPHA, step });
    return found === null || found > LARGEST_DIFFERENCE ? null : found;
  };
  const scenarios_needed = { at_least: needed(stdev.at_least), at_most: needed(stdev.at_most) };
  const isTooSmall = stdev.at_most !== null && scenarios_needed.at_most === null;
  return {
    run_id: runId,
    score,
    difference,
    power: POWER,
    scenarios: scenarios.length,
    stdev,
    scenarios_needed,
    detectable_difference: {
      at_least: detectable(stdev.at_least),
      at_most: detectable(stdev.at_most),
    },
    notes: [
      ...(stdev.at_most === null ? [describeUnknown(scenarios.length)] : []),
      ...(stdev.at_most !== null && stdev.at_least === null
        ? ["one attempt per scenario does not show the noise of the model"]
        : []),
      ...(isTooSmall
        ? [`so small a difference may need more than ${MOST_SCENARIOS} scenarios`]
        : []),
    ],
  };
}

function describeUnknown(scenarios: number): string {
  return scenarios === 1
    ? "one scenario does not show how scenarios differ"
    : "all scenarios have the same score in every attempt: this does not show how they differ";
}

/** `null` if all scores are equal, as in a run whose calls all failed. */
function stdevOf(
  scenarios: Parameters<typeof varianceComponents>[0],
  votes: Parameters<typeof varianceComponents>[1],
): RunPower["stdev"] {
  if (scenarios.length < 2) return { at_least: null, at_most: null };
  const found = varianceComponents(scenarios, votes);
  const known = { attempt: Math.max(0, found.attempt ?? 0), vote: found.vote ?? 0 };
  const within = mean(scenarios.map((own) => noiseOfMean(own, known)))!;
  const most = Math.max(0, found.scenario) + within;
  if (most === 0) return { at_least: null, at_most: null };
  const ofBoth = (variance: number) => Math.sqrt(2 * variance);
  return {
    at_least: found.attempt === null ? null : ofBoth(within),
    at_most: ofBoth(most),
  };
}
