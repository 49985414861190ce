import type { Halving, Halvings } from "../schemas/noise.ts";
import { mean } from "../assess/mean.ts";
import { type Conversation, noiseOfMean } from "./components.ts";
import type { Design } from "./conversations.ts";
import { LONG_ROUNDING, ROUNDING } from "../../shared/rounding.ts";

/** Votes per turn that a request may ask for. */
const MOST_VOTES = 9;
/** Components of one conversation, none of them negative; 0 for those that are not known. */
export interface KnownComponents {
  scenario: number;
  attempt: number;
  vote: number;
}

/** Halves the standard error of the mean over `scenarios`. */
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
  /** Per scenario: the standard error's square is this divided by the number of scenarios. */
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
