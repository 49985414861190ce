/// <reference lib="deno.worker" />
/** Simulates cells of the trust grid, one message each. */
import { type ComparedCell, simulateCompared } from "./compared.ts";
import { type CoverageCell, simulateCoverage } from "./coverage.ts";
import { type GroupCell, type GroupShares, simulateGroups } from "./groups.ts";
import { type PlannedCell, type PlannedPower, simulatePlanned } from "./planned.ts";
import { simulateVerdicts, type VerdictCell, type VerdictShares } from "./verdicts.ts";

/** 5 % of them is a whole number, so that the test has its full level. */
const DRAWS = 200;

export type Job =
  & { simulations: number; seed: number }
  & (
    | { verdicts: VerdictCell }
    | { coverage: CoverageCell }
    | { compared: ComparedCell }
    | { planned: PlannedCell }
    | { group: GroupCell }
  );
export type JobResult = VerdictShares | { covered: number } | PlannedPower | GroupShares;

self.onmessage = async ({ data }: MessageEvent<Job>) => {
  const result: JobResult = "verdicts" in data
    ? await simulateVerdicts(data.verdicts, { ...data, draws: DRAWS })
    : "group" in data
    ? await simulateGroups(data.group, data)
    : "planned" in data
    ? await simulatePlanned(data.planned, data)
    : "compared" in data
    ? { covered: await simulateCompared(data.compared, { ...data, draws: DRAWS }) }
    : { covered: simulateCoverage(data.coverage, data) };
  self.postMessage(result);
};
