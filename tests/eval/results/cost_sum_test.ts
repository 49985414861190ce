import { assertEquals } from "@std/assert";
import { addCosts, createCostSum } from "../../../eval/results/cost_sum.ts";

const sum = (amount: number | null, currency: string | null, turns: number, unknown = 0) => ({
  amount,
  currency,
  turns,
  unknown,
});

Deno.test("the cost of a group is the sum of its models' costs, and unknown costs are counted", () => {
  assertEquals(addCosts([sum(1, "USD", 4), sum(0.5, "USD", 3, 1)]), sum(1.5, "USD", 7, 1));
  assertEquals(addCosts([sum(null, null, 0, 4), sum(2, "USD", 4)]), sum(2, "USD", 4, 4));
  assertEquals(addCosts([sum(null, null, 0, 4)]), sum(null, null, 0, 4));
});

Deno.test("another currency is not added but counted as unknown, and without prices there is no sum", () => {
  assertEquals(addCosts([sum(1, "USD", 4), sum(5, "EUR", 3)]), sum(1, "USD", 4, 3));
  assertEquals(addCosts([undefined, undefined]), undefined);
});

Deno.test("a sum of costs has no digits that adding up has left", () => {
  const costs = createCostSum();
  for (const amount of [0.1, 0.2]) costs.add({ amount, currency: "USD" });
  assertEquals(costs.report("cost").cost, sum(0.3, "USD", 2));
  assertEquals(addCosts([sum(0.1, "USD", 1), sum(0.2, "USD", 1)]), sum(0.3, "USD", 2));
});
