import { assertEquals } from "@std/assert";
import { meterJudge, priceJudge } from "../../../../eval/assess/judge/judge_cost.ts";

const QUESTION = { name: "grade", messages: [], schema: {} };

Deno.test("the cost of several votes has no digits that adding up has left", async () => {
  const judge = priceJudge({
    name: "judge",
    ask: () => Promise.resolve({ text: "", isCut: false, tokens: { input: 10, output: 5 } }),
  }, { input: 3, output: 4, currency: "USD" });
  const { signal } = new AbortController();
  const { cost } = await meterJudge(async () => {
    for (let vote = 0; vote < 3; vote++) await judge.ask(QUESTION, signal);
  });
  assertEquals(cost, { amount: 0.00015, currency: "USD" });
});
