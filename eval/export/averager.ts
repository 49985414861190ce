import type { Scores } from "../../shared/schemas/evaluate.ts";

export interface Averager {
  add(scores: Scores): void;
  /** The mean of each score over those that have one; `null` where it applied nowhere. */
  averages(): Scores;
}

/** Averages scores that come one after another and are not kept. */
export function createAverager(): Averager {
  const cells = new Map<string, { sum: number; count: number }>();
  return {
    add(scores) {
      for (const [name, value] of Object.entries(scores)) {
        let cell = cells.get(name);
        if (!cell) cells.set(name, cell = { sum: 0, count: 0 });
        if (value === null) continue;
        cell.sum += value;
        cell.count++;
      }
    },
    averages() {
      const average = ({ sum, count }: { sum: number; count: number }) =>
        count === 0 ? null : sum / count;
      return Object.fromEntries([...cells].map(([name, cell]) => [name, average(cell)]));
    },
  };
}
