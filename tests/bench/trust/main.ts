// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import { report } from "../measure.ts";
import { COMPARED_SCENARIOS, comparedGrid } from "./compared.ts";
import { type CoverageCell, coverageGrid } from "./coverage.ts";
import {
  ATTEMPTS,
  SCENARIOS,
  type VerdictCell,
  verdictGrid,
  type VerdictShares,
} from "./verdicts.ts";
import { groupGrid, type GroupShares } from "./groups.ts";
import { MOST_SCENARIOS, plannedGrid, type PlannedPower } from "./planned.ts";
import type { Job, JobResult } from "./worker.ts";

/** Groups of five models; each has ten comparisons. */
const GROUPS = Number(Deno.env.get("TRUST_GROUPS") ?? 500);

/** Of these kinds of scores, by commas; of all if it is unset. One takes about a minute on 2 cores. */
const GROUP_KINDS = Deno.env.get("TRUST_KINDS")?.split(",");

/** Per cell; both and the seed can be set by the environment. */
const SIMULATIONS = Number(Deno.env.get("TRUST_SIMULATIONS") ?? 2000);
const SEED = Number(Deno.env.get("TRUST_SEED") ?? 1);
/** A test of exactly 5 % needs this many to show that it is below 6 %. */
const MOST = 10 * SIMULATIONS;

const PARTS = { alarms: falseAlarms, groups: groupAlarms, power, coverage, compared, planned };

/**
 * False alarms, power and coverage of intervals over the whole grid; some of them alone with
 * `TRUST_PARTS=coverage,planned`, which then take a minute or two each.
 */
export async function trust(): Promise<void> {
  using pool = createPool(navigator.hardwareConcurrency);
  const wanted = Deno.env.get("TRUST_PARTS")?.split(",");
  for (const [name, part] of Object.entries(PARTS)) {
    if (!wanted || wanted.includes(name)) await part(pool);
  }
}

interface Pool extends Disposable {
  run(job: Job): Promise<JobResult>;
}

function createPool(width: number): Pool {
  const workers = Array.from(
    { length: width },
    () => new Worker(new URL("worker.ts", import.meta.url), { type: "module" }),
  );
  const idle = [...workers];
  const waiting: ((worker: Worker) => void)[] = [];
  return {
    async run(job) {
      const worker = idle.pop() ?? await new Promise<Worker>((resolve) => waiting.push(resolve));
      const result = await new Promise<JobResult>((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
        worker.postMessage(job);
      });
      const next = waiting.shift();
      if (next) next(worker);
      else idle.push(worker);
      return result;
    },
    [Symbol.dispose]: () => workers.forEach((worker) => worker.terminate()),
  };
}

interface Alarms extends VerdictShares {
  cell: VerdictCell;
  simulations: number;
}

async function falseAlarms(pool: Pool): Promise<void> {
  const cells = await Promise.all(
    verdictGrid().map(async (cell, index): Promise<Alarms> => {
      const job = { verdicts: cell, seed: SEED + index };
      const first = await pool.run({ ...job, simulations: SIMULATIONS }) as VerdictShares;
      if (upperBound(first.found, SIMULATIONS) <= 0.06) {
        return { cell, simulations: SIMULATIONS, ...first };
      }
      const more = { ...job, seed: job.seed + 1_000_000, simulations: MOST - SIMULATIONS };
      const second = await pool.run(more) as VerdictShares;
      const together = (key: keyof VerdictShares) =>
        (first[key] * SIMULATIONS + second[key] * more.simulations) / MOST;
      const found = together("found");
      return { cell, simulations: MOST, found, foundBySigns: together("foundBySigns") };
    }),
  );
  console.log("  false alarms, %: equal models, the worse of even and uneven noise");
  printTable(cells, ({ found }) => found);
  console.log("  the same by sign flips alone, as in earlier versions");
  printTable(cells, ({ foundBySigns }) => foundBySigns);
  const bound = ({ found, simulations }: Alarms) => upperBound(found, simulations);
  const worst = cells.reduce((a, b) => bound(a) >= bound(b) ? a : b);
  console.log(`  worst cell: ${describe(worst.cell)}, ${worst.simulations} simulations`);
  report("  its false alarms", worst.found, { digits: 4 });
  report("  upper end of their 99 % interval", bound(worst), { bound: 0.06, digits: 4 });
}

/** Verdicts on any pair of five equal models. */
async function groupAlarms(pool: Pool): Promise<void> {
  console.log(`  groups of 5 equal models with any verdict, %, of ${GROUPS}; uncorrected`);
  const wanted = groupGrid().map((cell, index) => ({ cell, index }))
    .filter(({ cell }) => GROUP_KINDS?.includes(cell.kind) ?? true);
  const cells = await Promise.all(
    wanted.map(async ({ cell, index }) => {
      const job = { group: cell, simulations: GROUPS, seed: SEED + index };
      const shares = await pool.run(job) as GroupShares;
      const name = `${cell.kind}, ${cell.scenarios} scenarios × ${cell.attempts}`;
      const { found, foundUncorrected } = shares;
      console.log(`    ${name.padEnd(34)}${percent(found)}${percent(foundUncorrected)}`);
      return { cell, ...shares };
    }),
  );
  const all = cells.reduce((sum, { found }) => sum + found, 0) / cells.length;
  report("  all groups", all, { bound: 0.05, digits: 4 });
  const chance = 3 * Math.sqrt(0.05 * 0.95 / GROUPS); // of so few groups
  report("  worst cell", Math.max(...cells.map(({ found }) => found)), {
    bound: 0.05 + chance,
    digits: 4,
  });
}

async function power(pool: Pool): Promise<void> {
  const effects: Record<string, number> = {
    continuous: 0.06,
    skewed: -0.05,
    "rare misses": -0.25,
    ordinal: -0.15,
    ties: -0.2,
    failures: 0.08,
  };
  console.log("  power, %, 20 scenarios: this test, and sign flips alone (valid at 1:1 and 3:3)");
  let lost = 0;
  for (const [kind, better] of Object.entries(effects)) {
    const shares = await Promise.all(ATTEMPTS.map(async (attempts, index) => {
      const verdicts = { kind, scenarios: 20, attempts, isUneven: false, better };
      const job = { verdicts, simulations: SIMULATIONS / 2, seed: SEED + index };
      return await pool.run(job) as VerdictShares;
    }));
    const both = shares.map(({ found, foundBySigns }) =>
      `${percent(found)}/${percent(foundBySigns).trim()}`.padStart(12)
    );
    console.log(`    ${kind.padEnd(16)}${both.join("")}`);
    lost = Math.max(lost, ...shares.slice(0, 2).map((share) => share.foundBySigns - share.found));
  }
  report("  power lost at 1:1 and 3:3", lost, { bound: 0, digits: 4 });
}

/** Whether as many scenarios as planned show a difference with the power that was aimed for. */
async function planned(pool: Pool): Promise<void> {
  const cells = await Promise.all(
    plannedGrid().map(async (cell, index) => {
      const job = { planned: cell, simulations: SIMULATIONS / 2, seed: SEED + index };
      return { cell, ...await pool.run(job) as PlannedPower };
    }),
  );
  const shown = cells.filter(({ found }) => !Number.isNaN(found));
  console.log(`  power with the planned number of scenarios, up to ${MOST_SCENARIOS} of them`);
  for (const { cell: { kind, better, attempts, alpha }, scenarios, found } of shown) {
    const name = `${kind}, ${better}, ${attempts} attempts, level ${alpha.toFixed(4)}`;
    console.log(`    ${name.padEnd(50)}${`${scenarios}`.padStart(5)} ${percent(found)}`);
  }
  const many = shown.filter(({ scenarios }) => scenarios >= 10).map(({ found }) => found);
  report("  lowest from 10 scenarios on", Math.min(...many), { atLeast: 0.7, digits: 3 });
  report("  highest from 10 scenarios on", Math.max(...many), { bound: 0.92, digits: 3 });
}

async function coverage(pool: Pool): Promise<void> {
  const cells = await Promise.all(
    coverageGrid().map(async (cell, index) => {
      const job = { coverage: cell, simulations: 2 * SIMULATIONS, seed: SEED + index };
      return { cell, ...await pool.run(job) as { covered: number } };
    }),
  );
  console.log("  coverage of ci95, %: by scenarios (5 10 20 40) for 1, 3 and 10 attempts");
  for (const kind of new Set(cells.map(({ cell }) => cell.kind))) {
    const groups = [1, 3, 10].map((attempts) =>
      cells.filter(({ cell }) => cell.kind === kind && cell.attempts === attempts)
        .map(({ covered }) => percent(covered)).join("").padStart(24)
    );
    console.log(`    ${kind.padEnd(34)}${groups.join("   ")}`);
  }
  const lowest = cells.reduce((a, b) => a.covered <= b.covered ? a : b);
  const highest = cells.reduce((a, b) => a.covered >= b.covered ? a : b);
  const name = ({ kind, scenarios, attempts }: CoverageCell) =>
    `${kind}, ${scenarios} scenarios × ${attempts}`;
  report(`  lowest: ${name(lowest.cell)}`, lowest.covered, { atLeast: 0.93, digits: 4 });
  report(`  highest: ${name(highest.cell)}`, highest.covered, { bound: 0.99, digits: 4 });
}

/** How often the interval of a comparison holds the true difference. */
async function compared(pool: Pool): Promise<void> {
  const cells = await Promise.all(
    comparedGrid().map(async (cell, index) => {
      const job = { compared: cell, simulations: SIMULATIONS, seed: SEED + index };
      return { cell, ...await pool.run(job) as { covered: number } };
    }),
  );
  const sizes = COMPARED_SCENARIOS.join(" ");
  console.log(`  coverage of ci95 of comparisons, %: by scenarios (${sizes}) for 1 and 3 attempts`);
  for (const [kind, own] of Map.groupBy(cells, ({ cell }) => cell.kind)) {
    console.log(`    ${kind.padEnd(34)}${own.map(({ covered }) => percent(covered)).join("")}`);
    const lowest = Math.min(...own.map(({ covered }) => covered));
    // What is seldom far lower is not known of few attempts.
    if (!kind.includes("seldom")) report("  lowest", lowest, { atLeast: 0.92, digits: 4 });
  }
}

function printTable(cells: Alarms[], pick: (shares: Alarms) => number): void {
  const header = ATTEMPTS.map((attempts) => attempts.join(":").padStart(6)).join("");
  console.log(`    ${"".padEnd(18)}${header}`);
  for (const kind of new Set(cells.map(({ cell }) => cell.kind))) {
    for (const scenarios of SCENARIOS) {
      const row = ATTEMPTS.map((attempts) => {
        const found = cells.filter(({ cell }) =>
          cell.kind === kind && cell.scenarios === scenarios &&
          cell.attempts.join() === attempts.join()
        ).map(pick);
        return percent(Math.max(...found));
      });
      console.log(`    ${`${kind}, ${scenarios}`.padEnd(18)}${row.join("")}`);
    }
  }
}

function percent(share: number): string {
  return (100 * share).toFixed(1).padStart(6);
}

function describe({ kind, attempts, scenarios, isUneven }: VerdictCell): string {
  return `${kind}, ${attempts.join(":")}, ${scenarios} scenarios${
    isUneven ? ", uneven noise" : ""
  }`;
}

/** The upper end of Wilson's 99 % interval of a share. */
function upperBound(share: number, size: number): number {
  const z = 2.5758293035489;
  const centre = share + z * z / (2 * size);
  const half = z * Math.sqrt(share * (1 - share) / size + z * z / (4 * size * size));
  return (centre + half) / (1 + z * z / size);
}
