// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import { report } from "../measure.ts";
import { COMPARED_SCENARIOS, comparedGrid } from "./compared.ts";
import { coverageGrid, type CoverageShares, COVERED_SCENARIOS } from "./coverage.ts";
import { exactGrid } from "./exact.ts";
import { FACTS } from "./facts.ts";
import { groupGrid } from "./groups.ts";
import { MOST_SCENARIOS, plannedGrid } from "./planned.ts";
import { createPool, type Pool, simulateAll } from "./pool.ts";
import { POWER_EFFECTS, POWER_SCENARIOS, powerGrid } from "./power.ts";
import { type Figure, printTable, type Table } from "./table.ts";
import { ATTEMPTS, verdictGrid } from "./verdicts.ts";

/** Per cell. */
const SIMULATIONS = Number(Deno.env.get("TRUST_SIMULATIONS") ?? 2000);
const GROUPS = SIMULATIONS / 5;
const SEED = Number(Deno.env.get("TRUST_SEED") ?? 1);

const COVERAGE = 0.93;
/** How far the power may fall behind that of a t-test. */
const POWER_LOSS = 0.03;

const PARTS = { facts, means, exact, differences, alarms, groups, power, plans };

/**
 * Whether means, intervals and verdicts can be trusted: every figure with its goal.
 * `TRUST_PARTS=means,power` runs some parts alone.
 */
export async function trust(): Promise<void> {
  using pool = createPool(navigator.hardwareConcurrency);
  const wanted = Deno.env.get("TRUST_PARTS")?.split(",");
  let missed = 0;
  for (const [name, part] of Object.entries(PARTS)) {
    if (wanted && !wanted.includes(name)) continue;
    for (const table of await part(pool)) missed += printTable(table);
  }
  console.log();
  report("figures that miss their goal", missed, { bound: 0, digits: 0 });
}

/** What broken parts do to means, rates and verdicts (points that no simulation is needed for). */
async function facts(): Promise<Table[]> {
  const rows = [];
  for (const { name, goal, measure } of FACTS) {
    const { result, isKept } = await measure();
    rows.push({ name, figures: [{ text: goal }, { text: result, isKept }] });
  }
  return [{ title: "What broken parts do", columns: ["what", "goal", "result"], rows }];
}

const COVERAGE_GOAL = `goal: ${percent(COVERAGE)} at least in every cell`;

async function means(pool: Pool): Promise<Table[]> {
  const cells = await simulateAll(pool, "means", { cells: coverageGrid(), ...sampleOf() });
  return [{
    title: "Intervals of a mean: coverage and mean width by scenarios; " + COVERAGE_GOAL,
    columns: ["scores", ...COVERED_SCENARIOS.map(String)],
    rows: bySize(cells, ({ kind, attempts }) => `${kind}${times(attempts)}`, covered),
  }];
}

/** Whether a narrower method would do: not by simulation, but by all samples of some distributions. */
async function exact(pool: Pool): Promise<Table[]> {
  const cells = await simulateAll(pool, "exact", { cells: exactGrid(), ...sampleOf() });
  const rows = [...Map.groupBy(cells, ({ cell }) => cell.method)];
  const widthOf = (own: typeof cells) => own.reduce((sum, { shares }) => sum + shares.width, 0);
  return [{
    title: "Ours and other intervals, exactly, over distributions on three points; " +
      "goal of ours: 95 %",
    columns: ["method", "width, ours 1", "least coverage", "scenarios", "scores and chances"],
    rows: rows.map(([name, own]) => {
      const { cell, shares } = own.reduce((least, one) =>
        one.shares.covered < least.shares.covered ? one : least
      );
      const isKept = name !== "ours" || shares.covered >= 0.95;
      return {
        name,
        figures: [
          { text: (widthOf(own) / widthOf(rows[0]![1])).toFixed(2) },
          { text: percent(shares.covered), isKept },
          { text: `${cell.scenarios}` },
          { text: shares.worst },
        ],
      };
    }),
  }];
}

async function differences(pool: Pool): Promise<Table[]> {
  const cells = await simulateAll(pool, "differences", { cells: comparedGrid(), ...sampleOf() });
  return [{
    title: "Intervals of a difference: coverage and mean width by scenarios; " + COVERAGE_GOAL,
    columns: ["scores", ...COMPARED_SCENARIOS.map(String)],
    rows: bySize(cells, ({ kind, attempts }) => `${kind}${times(attempts)}`, covered),
  }];
}

/** Verdicts on equal models. */
async function alarms(pool: Pool): Promise<Table[]> {
  const cells = await simulateAll(pool, "alarms", { cells: verdictGrid(), ...sampleOf() });
  const most = chanceAbove(SIMULATIONS);
  const rows = [...Map.groupBy(cells, ({ cell }) => `${cell.kind}, ${cell.scenarios}`)];
  return [{
    title: "Verdicts on equal models, by attempts of the two runs, with even and uneven noise; " +
      `goal: 5 %, and so ${percent(most)} at most of ${SIMULATIONS} simulations`,
    columns: ["scores, scenarios", ...ATTEMPTS.map((attempts) => attempts.join(":"))],
    rows: rows.map(([name, own]) => ({
      name,
      figures: ATTEMPTS.map((attempts) => {
        const found = own.filter(({ cell }) => cell.attempts.join() === attempts.join())
          .map(({ shares }) => shares);
        return { text: found.map(percent).join(", "), isKept: Math.max(...found) <= most };
      }),
    })),
  }];
}

/** Verdicts on any pair of five equal models. */
async function groups(pool: Pool): Promise<Table[]> {
  const sample = { simulations: GROUPS, seed: SEED };
  const cells = await simulateAll(pool, "groups", { cells: groupGrid(), ...sample });
  const most = chanceAbove(GROUPS);
  return [{
    title: "Groups of 5 equal models with any verdict, and without the correction; " +
      `goal: 5 %, and so ${percent(most)} at most of ${GROUPS} groups`,
    columns: ["scores", "with a verdict", "uncorrected"],
    rows: cells.map(({ cell: { kind, scenarios, attempts }, shares }) => ({
      name: `${kind}, ${scenarios} scenarios${times(attempts)}`,
      figures: [
        { text: percent(shares.found), isKept: shares.found <= most },
        { text: percent(shares.foundUncorrected) },
      ],
    })),
  }];
}

async function power(pool: Pool): Promise<Table[]> {
  const cells = await simulateAll(pool, "power", { cells: powerGrid(), ...sampleOf() });
  return [{
    title: `Power with ${POWER_SCENARIOS} scenarios × 3 attempts, and that of a paired t-test; ` +
      `goal: at most ${POWER_LOSS} less than the t-test`,
    columns: ["differences between scenarios", ...POWER_EFFECTS.map((effect) => `+${effect}`)],
    rows: [...Map.groupBy(cells, ({ cell }) => cell.kind)].map(([name, own]) => ({
      name,
      figures: own.map(({ shares: { found, foundByT } }) => ({
        text: `${found.toFixed(3)}, t ${foundByT.toFixed(3)}`,
        isKept: foundByT - found <= POWER_LOSS,
      })),
    })),
  }];
}

/** Whether as many scenarios as planned show a difference with the power that was aimed for. */
async function plans(pool: Pool): Promise<Table[]> {
  const sample = { simulations: SIMULATIONS / 4, seed: SEED };
  const cells = await simulateAll(pool, "plans", { cells: plannedGrid(), ...sample });
  return [{
    title: `Power with the planned scenarios (10 to ${MOST_SCENARIOS}); goal: 0.7 to 0.92`,
    columns: ["scores", "scenarios", "power"],
    rows: cells.filter(({ shares }) => shares.scenarios >= 10 && !Number.isNaN(shares.found))
      .map(({ cell: { kind, better, attempts }, shares: { scenarios, found } }) => ({
        name: `${kind}, ${better}${times(attempts)}`,
        figures: [
          { text: `${scenarios}` },
          { text: found.toFixed(3), isKept: found >= 0.7 && found <= 0.92 },
        ],
      })),
  }];
}

function sampleOf() {
  return { simulations: SIMULATIONS, seed: SEED };
}

/** One row per name, with a figure for each number of scenarios. */
function bySize<C extends { scenarios: number }, S>(
  cells: { cell: C; shares: S }[],
  nameOf: (cell: C) => string,
  figureOf: (shares: S) => Figure,
): Table["rows"] {
  return [...Map.groupBy(cells, ({ cell }) => nameOf(cell))].map(([name, own]) => ({
    name,
    figures: own.toSorted((a, b) => a.cell.scenarios - b.cell.scenarios)
      .map(({ shares }) => figureOf(shares)),
  }));
}

function covered({ covered, width }: CoverageShares): Figure {
  return { text: `${percent(covered)}, ${width.toFixed(2)}`, isKept: covered >= COVERAGE };
}

function times(attempts: number): string {
  return attempts === 1 ? "" : ` × ${attempts}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** What a share of 5 % hardly ever exceeds in so many simulations: one of about 4,000 does. */
function chanceAbove(simulations: number): number {
  return 0.05 + 3.5 * Math.sqrt(0.05 * 0.95 / simulations);
}
