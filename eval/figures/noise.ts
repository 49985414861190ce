import type { Halving, Halvings, NoiseComponent, RunNoise, ScoreNoise } from "../test/noise.ts";
import { mean } from "../score/mean.ts";
import { requireScores } from "./detail.ts";
import { HEADLINE } from "./passing.ts";
import {
  type Conversation,
  noiseOfMean,
  scenarioMean,
  type VarianceComponents,
  varianceComponents,
} from "./noise/components.ts";
import {
  type Design,
  JUDGED,
  type NoisyRun,
  type NoisyTurn,
  readConversations,
} from "./noise/conversations.ts";
import { LONG_ROUNDING, ROUNDING } from "../test/rounding.ts";

const METHOD = "method of moments for nested data: scenarios, attempts within scenarios, votes " +
  "within turns; an estimate below 0 counts as 0";

/**
 * Splits the noise of a run's scores by its sources: for `overall` and `judge`, or for those in
 * `scores`. Throws 400 for a score that the run does not have.
 */
export async function splitNoise(
  runId: string,
  turns: AsyncIterable<NoisyTurn>,
  { scores: wanted = [] }: { scores?: string[] } = {},
): Promise<RunNoise> {
  const names = wanted.length > 0 ? [...new Set(wanted)] : [HEADLINE, JUDGED];
  const run = await readConversations(turns, names);
  requireScores(run.names, { wanted, parameter: "scores" });
  const scores = Object.fromEntries(
    names.filter((name) => run.scores.has(name)).map((name) => [name, describeNoise(name, run)]),
  );
  return { run_id: runId, scores, method: METHOD };
}

function describeNoise(name: string, { scores, voteSpread, design }: NoisyRun): ScoreNoise {
  const scenarios = scores.get(name)!;
  const average = mean(scenarios.map(scenarioMean))!;
  const size = {
    scenarios: scenarios.length,
    conversations: scenarios.reduce((sum, own) => sum + own.length, 0),
  };
  if (scenarios.length < 2) {
    return {
      mean: average,
      stderr: null,
      ...size,
      components: { scenario: null, attempt: null, vote: null },
      to_halve_stderr: { scenarios: null, attempts: null, votes: null, cheapest: null },
      notes: ["one scenario does not show how scenarios differ"],
    };
  }
  const isVotedOn = scenarios.some((own) => own.some(({ voteLoad }) => voteLoad > 0));
  const votes = isVotedOn ? voteSpread : { squares: 0, degrees: 0 };
  const found = varianceComponents(scenarios, votes);
  const known = floored(found);
  const shares = sharesOf(scenarios, known);
  const ofMean = shares.reduce((sum, share) => sum + share.ofMean, 0);
  return {
    mean: average,
    stderr: Math.sqrt(ofMean / scenarios.length),
    ...size,
    components: describeComponents(found, shares),
    to_halve_stderr: planHalving(scenarios, {
      components: known,
      design,
      isSplit: { attempt: found.attempt !== null, vote: found.vote !== null },
    }),
    notes: describeLimits(found, { isVotedOn }),
  };
}

function floored({ scenario, attempt, vote }: VarianceComponents): KnownComponents {
  return {
    scenario: Math.max(0, scenario),
    attempt: Math.max(0, attempt ?? 0),
    vote: vote ?? 0,
  };
}

/** One source's part of the variance of a single conversation, and of a scenario's mean. */
interface Share {
  single: number;
  ofMean: number;
  /** The factor of the estimate: votes are per turn, and a conversation has several turns. */
  load: number;
}

/** The shares of the scenario, the attempt and the vote. */
function sharesOf(
  scenarios: Conversation[][],
  { scenario, attempt, vote }: KnownComponents,
): [Share, Share, Share] {
  const load = mean(scenarios.map((own) => mean(own.map((one) => one.voteLoadOfOne))!))!;
  const inMeans = (components: { attempt: number; vote: number }) =>
    mean(scenarios.map((own) => noiseOfMean(own, components)))!;
  return [
    { single: scenario, ofMean: scenario, load: 1 },
    { single: attempt, ofMean: inMeans({ attempt, vote: 0 }), load: 1 },
    { single: vote * load, ofMean: inMeans({ attempt: 0, vote }), load },
  ];
}

function describeComponents(
  { scenario, attempt, vote }: VarianceComponents,
  shares: [Share, Share, Share],
): ScoreNoise["components"] {
  const single = shares.reduce((sum, share) => sum + share.single, 0);
  const ofMean = shares.reduce((sum, share) => sum + share.ofMean, 0);
  function describe(estimate: number, share: Share): NoiseComponent {
    return {
      variance: share.single,
      estimate: estimate * share.load,
      share: single === 0 ? 0 : share.single / single,
      share_of_mean: ofMean === 0 ? 0 : share.ofMean / ofMean,
    };
  }
  return {
    scenario: describe(scenario, shares[0]),
    attempt: attempt === null ? null : describe(attempt, shares[1]),
    vote: vote === null ? null : describe(vote, shares[2]),
  };
}

function describeLimits(
  { scenario, attempt, vote }: VarianceComponents,
  { isVotedOn }: { isVotedOn: boolean },
): string[] {
  const negative = Object.entries({ scenarios: scenario, attempts: attempt ?? 0 })
    .filter(([, estimate]) => estimate < 0);
  return [
    ...(attempt === null
      ? ["one attempt per scenario: the noise of the model is part of scenario"]
      : []),
    ...(isVotedOn && vote === null
      ? ["one vote per turn: the noise of the judge is part of attempt"]
      : []),
    ...negative.map(([source]) =>
      `${source}: their variance is estimated below 0 and counts as 0, too small to distinguish from 0`
    ),
  ];
}

/** The most votes per turn of a request. */
const MOST_VOTES = 9;
/** Components of one conversation, not negative; 0 if unknown. */
interface KnownComponents {
  scenario: number;
  attempt: number;
  vote: number;
}

/** Ways to halve the standard error of the mean over `scenarios`. */
export function planHalving(
  scenarios: Conversation[][],
  { components, design, isSplit }: {
    components: KnownComponents;
    design: Design;
    /** Whether the components of attempts and of votes are known. */
    isSplit: { attempt: boolean; vote: boolean };
  },
): Halvings {
  const size = scenarios.length;
  const { scenario, attempt, vote } = components;
  const present = scenario + mean(scenarios.map((own) => noiseOfMean(own, components)))!;
  if (present <= 0) return { scenarios: null, attempts: null, votes: null, cheapest: null };
  /** The squared standard error × the number of scenarios. */
  const target = present / 4;
  const ofAttempts = mean(scenarios.map((own) => 1 / own.length))!;
  const loads = scenarios.map((own) => mean(own.map(({ voteLoad }) => voteLoad))!);
  const loadsOfOne = scenarios.map((own) => mean(own.map((one) => one.voteLoadOfOne))!);

  const plans = {
    scenarios: priced(design, { factor: 4, needed: 4 * size }),
    attempts: isSplit.attempt
      ? moreAttempts(design, {
        needed: wholeFrom(attempt + vote * mean(loads)!, target - scenario),
      })
      : null,
    votes: isSplit.vote
      ? moreVotes(design, {
        needed: wholeFrom(
          vote * mean(loadsOfOne)! * ofAttempts,
          target - scenario - attempt * ofAttempts,
        ),
      })
      : null,
  };
  return { ...plans, cheapest: cheapestOf(plans) };
}

/** The smallest n for which `variance / n` is at most `room`; `null` if none is. */
function wholeFrom(variance: number, room: number): number | null {
  return room <= variance * ROUNDING ? null : Math.ceil(variance / room - LONG_ROUNDING);
}

function priced(
  { modelCalls, votes }: Design,
  { factor, needed }: { factor: number; needed: number },
): Halving {
  return {
    needed,
    model_calls: Math.ceil((factor - 1) * modelCalls),
    judge_calls: Math.ceil((factor - 1) * votes),
  };
}

function moreAttempts(design: Design, { needed }: { needed: number | null }): Halving | null {
  if (needed === null) return null;
  return priced(design, { factor: needed * design.turns / design.modelCalls, needed });
}

function moreVotes(design: Design, { needed }: { needed: number | null }): Halving | null {
  if (needed === null || needed > MOST_VOTES) return null;
  const judge_calls = Math.max(0, needed * design.gradedTurns - design.votes);
  return { needed, model_calls: 0, judge_calls };
}

function cheapestOf(plans: Omit<Halvings, "cheapest">): Halvings["cheapest"] {
  const calls = (plan: Halving) => plan.model_calls + plan.judge_calls;
  const known = (["scenarios", "attempts", "votes"] as const).flatMap((way) => {
    const plan = plans[way];
    return plan ? [{ way, calls: calls(plan) }] : [];
  });
  return known.sort((a, b) => a.calls - b.calls)[0]?.way ?? null;
}
