import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { summariseTurns } from "../../../eval/figures/run_summary.ts";
import { createSampler, type Sampler } from "../../fakes/simulated_scores.ts";
import { storedRun } from "../../fakes/stored_run.ts";

type Turn = Record<string, unknown>;

const scored = (overall: number): Turn => ({ scores: { overall } });

/** Graded by votes from 0 to 10, beside a similarity. */
function judged(similarity: number, ...grades: number[]): Turn {
  const grade = grades.reduce((sum, grade) => sum + grade, 0) / grades.length;
  return {
    scores: {
      semantic_similarity: similarity,
      judge: grade / 10,
      overall: (similarity + grade / 10) / 2,
    },
    judge: { grade, votes: grades.map((grade) => ({ grade, reason: "" })) },
  };
}

/** Of scenarios of attempts of turns. */
async function summaryOf(run: Turn[][][]) {
  const stored = storedRun(run.map((attempts, index) => [`s${index}`, attempts]));
  return await summariseTurns(stored.reader, stored.run);
}

Deno.test("the spread of two attempts at three scenarios, computed by hand", async () => {
  // Means 0.5, 0.7, 0.9: variance 0.04. Within: 0.1² / 2 each, so 0.005; half of it is in a mean.
  const { spread } = await summaryOf(
    [[0.45, 0.55], [0.65, 0.75], [0.85, 0.95]]
      .map((attempts) => attempts.map((value) => [scored(value)])),
  );
  assertAlmostEquals(spread!.scenarios, 0.0375 / 0.0425, 1e-9);
  assertAlmostEquals(spread!.attempts!, 0.005 / 0.0425, 1e-9);
  assertEquals(spread!.judge, null);
});

Deno.test("votes on the same reply are the judge's, and a quarter of their variance is in an overall of two parts", async () => {
  const { spread } = await summaryOf([
    [[judged(0.5, 4, 6)], [judged(0.5, 3, 5)]],
    [[judged(0.9, 8, 10)], [judged(0.9, 5, 7)]],
  ]);
  // Two votes that are 2 grades apart: variance 0.02, in overall 0.005. Attempts differ by 0.05 and
  // 0.15: (0.00125 + 0.01125) / 2, of which half a vote's variance is the judge's.
  const [attempt, vote] = [0.00625 - 0.0025, 0.005];
  // Means 0.475 and 0.825.
  const scenario = 0.35 ** 2 / 2 - (attempt + vote / 2) / 2;
  const whole = scenario + attempt + vote;
  assertAlmostEquals(spread!.scenarios, scenario / whole, 1e-9);
  assertAlmostEquals(spread!.attempts!, attempt / whole, 1e-9);
  assertAlmostEquals(spread!.judge!, vote / whole, 1e-9);
});

Deno.test("nobody voted on a failed call, and an attempt with a missing score is left out", async () => {
  const failed = {
    scores: { judge: 0, overall: 0 },
    error: { code: "provider_error", status: 500, detail: "" },
  };
  const missing = { scores: { overall: null }, missing_scores: { overall: "without judge" } };
  const right = [judged(0.8, 8, 8)];
  const { spread } = await summaryOf([[right, [failed]], [right, right, [missing]]]);
  assertEquals([spread!.scenarios, spread!.attempts, spread!.judge], [0, 1, 0]);
});

Deno.test("a run that cannot show where its spread comes from does not say so", async () => {
  const equal = Array.from({ length: 3 }, () => [[judged(0.3, 3, 3)], [judged(0.3, 3, 3)]]);
  const runs = {
    "one scenario": [[[scored(0.5)], [scored(0.7)]]],
    "one attempt": [[[scored(0.5)]], [[scored(0.7)]]],
    "nothing differs": equal,
  };
  for (const [name, run] of Object.entries(runs)) {
    assertEquals((await summaryOf(run)).spread, undefined, name);
  }
  assertEquals((await summaryOf(equal)).scenarios_needed, undefined);
});

Deno.test("a run says how many scenarios like its own show a difference to another run", async () => {
  const values = [0.2, 0.9, 0.5, 0.7, 0.4, 0.8];
  const { scenarios_needed, statistics } = await summaryOf(
    values.map((value) => [[scored(value)]]),
  );
  const spread = Math.SQRT2 * Math.sqrt(6) * statistics.overall!.stderr!;
  for (const [difference, scenarios] of Object.entries(scenarios_needed!)) {
    const textbook = ((1.96 + 0.8416) * spread / Number(difference)) ** 2;
    assert(
      Math.abs(scenarios / textbook - 1) < 0.03,
      `${difference}: ${scenarios}, not ${textbook}`,
    );
  }
  assertEquals(Object.keys(scenarios_needed!), ["0.1", "0.05", "0.02"]);
});

/** True standard deviations, and the size of the run. */
interface Truth {
  scenario: number;
  attempt: number;
  vote: number;
  attempts: (sampler: Sampler) => number;
  votes: (sampler: Sampler) => number;
  turns: number;
}

const SCENARIOS = 200;
const SIMULATIONS = 20;

/** Scores may leave [0, 1]: the bounds are not what is tested. */
function simulate(truth: Truth, sampler: Sampler): Turn[][][] {
  return Array.from({ length: SCENARIOS }, () => {
    const level = 0.5 + truth.scenario * sampler.normal();
    return Array.from({ length: truth.attempts(sampler) }, () => {
      const own = level + truth.attempt * sampler.normal();
      return Array.from({ length: truth.turns }, () => {
        const votes = Array.from(
          { length: truth.votes(sampler) },
          () => 10 * (own + truth.vote * sampler.normal()),
        );
        if (votes.length === 0) return scored(own);
        const grade = votes.reduce((sum, vote) => sum + vote, 0) / votes.length;
        const scores = { judge: grade / 10, overall: grade / 10 };
        return { scores, judge: { grade, votes: votes.map((grade) => ({ grade, reason: "" })) } };
      });
    });
  });
}

const always = (count: number) => () => count;
const between = (low: number, high: number) => ({ uniform }: Sampler) =>
  low + Math.floor(uniform() * (high - low + 1));

const DESIGNS: Record<string, Truth> = {
  "balanced": {
    ...{ scenario: 0.15, attempt: 0.1, vote: 0.12 },
    ...{ attempts: always(4), votes: always(3), turns: 1 },
  },
  "unbalanced in attempts and votes": {
    ...{ scenario: 0.1, attempt: 0.15, vote: 0.1 },
    ...{ attempts: between(1, 6), votes: between(1, 4), turns: 1 },
  },
  "conversations of three turns": {
    ...{ scenario: 0.12, attempt: 0.08, vote: 0.2 },
    ...{ attempts: between(2, 5), votes: always(2), turns: 3 },
  },
  "without a judge": {
    ...{ scenario: 0.1, attempt: 0.1, vote: 0 },
    ...{ attempts: between(1, 5), votes: always(0), turns: 2 },
  },
  "without a difference of scenarios": {
    ...{ scenario: 0, attempt: 0.1, vote: 0.12 },
    ...{ attempts: always(3), votes: always(3), turns: 1 },
  },
};

for (const [name, truth] of Object.entries(DESIGNS)) {
  Deno.test(`over simulated runs each share is within 3 % of the truth on average: ${name}`, async () => {
    const sampler = createSampler(17);
    const sums = { scenarios: 0, attempts: 0, judge: 0 };
    for (let round = 0; round < SIMULATIONS; round++) {
      const { spread } = await summaryOf(simulate(truth, sampler));
      for (const source of ["scenarios", "attempts", "judge"] as const) {
        sums[source] += (spread![source] ?? 0) / SIMULATIONS;
      }
      assertEquals(spread!.judge === null, truth.vote === 0);
    }
    const parts = {
      scenarios: truth.scenario ** 2,
      attempts: truth.attempt ** 2,
      judge: truth.vote ** 2 / truth.turns, // each turn has a vote of its own
    };
    const whole = parts.scenarios + parts.attempts + parts.judge;
    for (const [source, part] of Object.entries(parts)) {
      const found = sums[source as keyof typeof sums];
      assert(Math.abs(found - part / whole) <= 0.03, `${source}: ${found}, not ${part / whole}`);
    }
  });
}
