import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { type NoisyTurn } from "../../../../eval/figures/noise/conversations.ts";
import { splitNoise } from "../../../../eval/figures/noise.ts";
import { createSampler, type Sampler } from "../../../fakes/simulated_scores.ts";

/** True standard deviations, and the size of the run. */
interface Truth {
  scenario: number;
  attempt: number;
  vote: number;
  scenarios: number;
  /** Of one scenario. */
  attempts: (sampler: Sampler) => number;
  /** Of one turn; 0 for a run without a judge. */
  votes: (sampler: Sampler) => number;
  turns: number;
}

/** A run whose noise is known. Scores may leave [0, 1]: the bounds are not what is tested. */
async function* simulate(truth: Truth, sampler: Sampler): AsyncGenerator<NoisyTurn> {
  for (let scenario = 0; scenario < truth.scenarios; scenario++) {
    const level = 0.5 + truth.scenario * sampler.normal();
    const attempts = truth.attempts(sampler);
    for (let attempt = 0; attempt < attempts; attempt++) {
      const own = level + truth.attempt * sampler.normal();
      for (let turn = 0; turn < truth.turns; turn++) {
        const position = { scenario, attempt, turn };
        const votes = Array.from({ length: truth.votes(sampler) }, () => ({
          grade: 10 * (own + truth.vote * sampler.normal()),
          reason: "",
        }));
        yield await Promise.resolve({ ...position, result: toResult(own, votes) });
      }
    }
  }
}

function toResult(
  own: number,
  votes: { grade: number; reason: string }[],
): NoisyTurn["result"] {
  if (votes.length === 0) return { scores: { overall: own } };
  const grade = votes.reduce((sum, vote) => sum + vote.grade, 0) / votes.length;
  return {
    scores: { judge: grade / 10, overall: grade / 10 },
    judge: { model: "judge", grade, reason: null, votes, spread: null },
  };
}

const SIMULATIONS = 500;
const always = (count: number) => () => count;
const between = (low: number, high: number) => ({ uniform }: Sampler) =>
  low + Math.floor(uniform() * (high - low + 1));

const DESIGNS: Record<string, Truth> = {
  "balanced": {
    scenario: 0.15,
    attempt: 0.1,
    vote: 0.12,
    scenarios: 20,
    attempts: always(4),
    votes: always(3),
    turns: 1,
  },
  "unbalanced in attempts and votes": {
    scenario: 0.1,
    attempt: 0.15,
    vote: 0.1,
    scenarios: 25,
    attempts: between(1, 6),
    votes: between(1, 4),
    turns: 1,
  },
  "conversations of three turns": {
    scenario: 0.12,
    attempt: 0.08,
    vote: 0.2,
    scenarios: 20,
    attempts: between(2, 5),
    votes: always(2),
    turns: 3,
  },
  "without a judge": {
    scenario: 0.1,
    attempt: 0.1,
    vote: 0,
    scenarios: 20,
    attempts: between(1, 5),
    votes: always(0),
    turns: 2,
  },
};

for (const [name, truth] of Object.entries(DESIGNS)) {
  Deno.test(`over ${SIMULATIONS} simulated runs the mean estimate of each component is within 10 % of the truth: ${name}`, async () => {
    const sampler = createSampler(17);
    const sums = { scenario: 0, attempt: 0, vote: 0 };
    for (let round = 0; round < SIMULATIONS; round++) {
      const { scores } = await splitNoise("run", simulate(truth, sampler));
      const { components } = scores.overall!;
      for (const source of ["scenario", "attempt", "vote"] as const) {
        sums[source] += components[source]?.variance ?? 0;
      }
      assertEquals(components.vote === null, truth.vote === 0);
    }
    const expected = {
      scenario: truth.scenario ** 2,
      attempt: truth.attempt ** 2,
      vote: truth.vote ** 2 / truth.turns, // of a conversation: each turn has a vote of its own
    };
    for (const source of ["scenario", "attempt", "vote"] as const) {
      const found = sums[source] / SIMULATIONS;
      const ratio = expected[source] === 0 ? 1 : found / expected[source];
      assert(Math.abs(ratio - 1) <= 0.1, `${source}: ${found}, not ${expected[source]}`);
    }
  });
}

Deno.test("a component that is not there is estimated without bias, and never shown below 0", async () => {
  const sampler = createSampler(5);
  const truth: Truth = { ...DESIGNS.balanced!, scenario: 0, attempts: always(3) };
  let estimates = 0;
  let negative = 0;
  for (let round = 0; round < SIMULATIONS; round++) {
    const { scores } = await splitNoise("run", simulate(truth, sampler));
    const { components, notes } = scores.overall!;
    const { estimate, variance, share } = components.scenario!;
    assert(variance >= 0 && share >= 0);
    estimates += estimate;
    if (estimate >= 0) continue;
    negative++;
    assertEquals(variance, 0);
    assertEquals(notes, [
      "scenarios: their variance is estimated below 0 and counts as 0, too small to distinguish from 0",
    ]);
  }
  assert(negative > SIMULATIONS / 4, `${negative}`);
  assertAlmostEquals(estimates / SIMULATIONS, 0, 0.0005);
});
