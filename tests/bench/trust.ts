import { ALPHA } from "../../eval/figures/summary/mean_interval.ts";
import { report } from "./measure.ts";
import { comparedGrid, simulateCompared } from "./trust/compared.ts";
import { coverageGrid, type CoverageShares, simulateCoverage } from "./trust/coverage.ts";
import { groupGrid, simulateGroups } from "./trust/groups.ts";
import { powerGrid, simulatePower } from "./trust/power.ts";
import { simulateVerdicts, verdictGrid } from "./trust/verdicts.ts";

/** Per cell. */
const SIMULATIONS = Number(Deno.env.get("TRUST_SIMULATIONS") ?? 2000);
const GROUPS = SIMULATIONS / 5;
/** One more than 5 % of them are whole, so that the test has nearly its full level. */
const DRAWS = 401;
const COVERAGE = 0.93;
/** How far the power may fall behind that of a t-test. */
const POWER_LOSS = 0.03;

/** Whether means, intervals and verdicts can be trusted: for each kind of scores its worst cell. */
export async function trust(): Promise<void> {
  const simulations = SIMULATIONS;
  await worstOf("interval of a mean: coverage", coverageGrid(), {
    simulate: (cell, seed) => coveredBy(simulateCoverage(cell, { simulations, seed })),
    limit: { atLeast: COVERAGE },
  });
  await worstOf("interval of a difference: coverage", comparedGrid(), {
    simulate: async (cell, seed) =>
      coveredBy(await simulateCompared(cell, { simulations, seed, draws: DRAWS })),
    limit: { atLeast: COVERAGE },
  });
  await worstOf("verdicts on two equal models", verdictGrid(), {
    simulate: (cell, seed) => simulateVerdicts(cell, { simulations, seed, draws: DRAWS }),
    limit: { bound: highestOf(simulations) },
  });
  await worstOf("verdicts on five equal models", groupGrid(), {
    simulate: async (cell, seed) =>
      (await simulateGroups(cell, { simulations: GROUPS, seed })).found,
    limit: { bound: highestOf(GROUPS) },
  });
  await worstOf("differences that a t-test finds more often", powerGrid(), {
    async simulate(cell, seed) {
      const { found, foundByT } = await simulatePower(cell, { simulations, seed });
      return foundByT - found;
    },
    limit: { bound: POWER_LOSS },
  });
}

/** Simulates each cell from a seed of its own; a line for each kind of scores. */
async function worstOf<C extends { kind: string }>(
  what: string,
  cells: C[],
  { simulate, limit }: {
    simulate: (cell: C, seed: number) => number | Promise<number>;
    limit: { bound?: number; atLeast?: number };
  },
): Promise<void> {
  for (const [kind, alike] of Map.groupBy(cells, (cell) => cell.kind)) {
    const shares = [];
    for (const cell of alike) shares.push(await simulate(cell, cells.indexOf(cell) + 1));
    const worst = limit.bound === undefined ? Math.min(...shares) : Math.max(...shares);
    report(`${what}, ${kind}`, worst, { ...limit, digits: 3 });
  }
}

const coveredBy = ({ covered }: CoverageShares) => covered;

/** What a share of 5 % hardly ever exceeds in so many simulations: one of about 4,000 does. */
function highestOf(simulations: number): number {
  return Number((ALPHA + 3.5 * Math.sqrt(ALPHA * (1 - ALPHA) / simulations)).toFixed(3));
}
