import type { RunSummary } from "../../figures/run_summary.ts";

/** Where the spread of `overall` comes from, and how many scenarios would show a difference. */
export function spreadLines(
  { spread, scenarios_needed = {} }: Pick<RunSummary, "spread" | "scenarios_needed">,
): string[] {
  const percent = (share: number) => `${Math.round(100 * share)} %`;
  const [first, ...others] = Object.entries(scenarios_needed);
  return [
    ...spread
      ? [
        `Of the spread of overall, ${percent(spread.scenarios)} is between scenarios` +
        (spread.attempts === null ? "" : `, ${percent(spread.attempts)} between attempts`) +
        (spread.judge === null ? "" : `, ${percent(spread.judge)} the judge`),
      ]
      : [],
    ...first
      ? [
        `At most ${first[1]} scenarios like these would show a difference of ${first[0]} to ` +
        "another run" +
        others.map(([difference, count]) => `, ${count} one of ${difference}`).join(""),
      ]
      : [],
  ];
}
