import { countScenarioTurns, type RunPlan } from "../../schemas/conversations.ts";

/** How many scenarios of a run are stored as a whole, counted from the first one. */
export interface WholeScenarios {
  readonly count: number;
  /** Counts a turn that was stored. */
  add(scenario: number): void;
  /** No further turn comes. */
  end(): void;
  /** Resolves once there are as many, or all, or there will be no more. */
  reach(count: number): Promise<void>;
}

export function createWholeScenarios(plan: RunPlan): WholeScenarios {
  const left = plan.scenarios.map((_, scenario) => countScenarioTurns(plan, scenario));
  let count = 0;
  let isOver = false;
  let news = Promise.withResolvers<void>();

  function advance(): void {
    while (left[count] === 0) count++;
    news.resolve();
    news = Promise.withResolvers();
  }

  advance(); // a scenario may have no turn
  return {
    get count() {
      return count;
    },
    add(scenario) {
      left[scenario]!--;
      if (scenario === count) advance();
    },
    end() {
      isOver = true;
      advance();
    },
    async reach(wanted) {
      while (!isOver && count < Math.min(wanted, left.length)) await news.promise;
    },
  };
}
