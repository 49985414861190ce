/// <reference lib="deno.worker" />
/** Simulates cells of the trust grid, one message each. */
import { type ComparedCell, simulateCompared } from "./compared.ts";
import { type CoverageCell, type CoverageShares, simulateCoverage } from "./coverage.ts";
import { type GroupCell, type GroupShares, simulateGroups } from "./groups.ts";
import { type PlannedCell, type PlannedPower, simulatePlanned } from "./planned.ts";
import { simulateVerdicts, type VerdictCell, type VerdictShares } from "./verdicts.ts";

/** One more than 5 % of them are whole, so that the test has nearly its full level. */
const DRAWS = 401;

export type Job =
  & { simulations: number; seed: number }
  & (
    | { verdicts: VerdictCell }
    | { coverage: CoverageCell }
    | { compared: ComparedCell }
    | { planned: PlannedCell }
    | { group: GroupCell }
  );
export type JobResult = VerdictShares | CoverageShares | PlannedPower | GroupShares;

self.onmessage = async ({ data }: MessageEvent<Job>) => {
  const result: JobResult = "verdicts" in data
    ? await simulateVerdicts(data.verdicts, { ...data, draws: DRAWS })
    : "group" in data
    ? await simulateGroups(data.group, data)
    : "planned" in data
    ? await simulatePlanned(data.planned, data)
    : "compared" in data
    ? await simulateCompared(data.compared, { ...data, draws: DRAWS })
    : simulateCoverage(data.coverage, data);
  self.postMessage(result);
};
