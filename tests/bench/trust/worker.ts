/// <reference lib="deno.worker" />
/** Simulates cells of the trust grid, one message each. */
import { type ComparedCell, simulateCompared } from "./compared.ts";
import { type CoverageCell, simulateCoverage } from "./coverage.ts";
import { computeExact, type ExactCell } from "./exact.ts";
import { type GroupCell, simulateGroups } from "./groups.ts";
import { type PlannedCell, simulatePlanned } from "./planned.ts";
import { type PowerCell, simulatePower } from "./power.ts";
import { simulateVerdicts, type VerdictCell } from "./verdicts.ts";

/** One more than 5 % of them are whole, so that the test has nearly its full level. */
const draws = 401;

interface Sample {
  simulations: number;
  seed: number;
}

const SIMULATE = {
  means: (cell: CoverageCell, sample: Sample) => simulateCoverage(cell, sample),
  exact: (cell: ExactCell) => Promise.resolve(computeExact(cell)),
  differences: (cell: ComparedCell, sample: Sample) => simulateCompared(cell, { ...sample, draws }),
  alarms: (cell: VerdictCell, sample: Sample) => simulateVerdicts(cell, { ...sample, draws }),
  groups: (cell: GroupCell, sample: Sample) => simulateGroups(cell, sample),
  power: (cell: PowerCell, sample: Sample) => simulatePower(cell, sample),
  plans: (cell: PlannedCell, sample: Sample) => simulatePlanned(cell, sample),
};

/** What can be simulated, with its cells and its shares. */
export type Simulated = keyof typeof SIMULATE;
export type CellOf<K extends Simulated> = Parameters<typeof SIMULATE[K]>[0];
export type SharesOf<K extends Simulated> = Awaited<ReturnType<typeof SIMULATE[K]>>;

export interface Job<K extends Simulated = Simulated> {
  what: K;
  cell: CellOf<K>;
  sample: Sample;
}

self.onmessage = async ({ data: { what, cell, sample } }: MessageEvent<Job>) => {
  const simulate = SIMULATE[what] as (cell: unknown, sample: Sample) => unknown;
  self.postMessage(await simulate(cell, sample));
};
