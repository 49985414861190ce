/** Shares of scenarios that get better: coverage has narrow dips between round ones. */
const BETTER = Array.from({ length: 101 }, (_, percent) => percent / 100);
/** Shares that get worse. */
const WORSE = [0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5];
/** More than the rounding error of the sums. */
const ROUNDING = 1e-9;

type Interval = readonly [number, number];

/**
 * With passes and failures and one attempt, two models differ by -1, 0 or 1 in each scenario. Goes
 * through all outcomes of `size` scenarios. Returns the smallest chance, over many pairs of models,
 * that the interval holds their true difference.
 */
export async function leastCoverage(
  size: number,
  intervalOf: (differences: number[]) => Interval | Promise<Interval>,
): Promise<number> {
  const outcomes: { up: number; down: number; interval: Interval }[] = [];
  for (let up = 0; up <= size; up++) {
    for (let down = 0; up + down <= size; down++) {
      const differences = Array.from(
        { length: size },
        (_, index) => index < up ? 1 : index < up + down ? -1 : 0,
      );
      outcomes.push({ up, down, interval: await intervalOf(differences) });
    }
  }
  let least = 1;
  for (const better of BETTER) {
    for (const worse of WORSE.filter((worse) => worse <= Math.min(better, 1 - better))) {
      const difference = better - worse;
      const covered = outcomes.filter(({ interval: [low, high] }) =>
        low - ROUNDING <= difference && difference <= high + ROUNDING
      ).reduce((sum, { up, down }) => sum + chanceOf({ up, down, size }, { better, worse }), 0);
      least = Math.min(least, covered);
    }
  }
  return least;
}

/** The chance that of `size` scenarios so many get better and worse. */
function chanceOf(
  { up, down, size }: { up: number; down: number; size: number },
  { better, worse }: { better: number; worse: number },
): number {
  const same = Math.max(0, 1 - better - worse);
  let chance = better ** up * worse ** down * same ** (size - up - down);
  for (let k = 1; k <= up; k++) chance *= (size - k + 1) / k;
  for (let k = 1; k <= down; k++) chance *= (size - up - k + 1) / k;
  return chance;
}
