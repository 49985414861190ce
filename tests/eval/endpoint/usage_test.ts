import { assertEquals } from "@std/assert";
import { priceTarget } from "../../../eval/endpoint/prices.ts";
import { endpointTarget } from "../../fakes/endpoint_target.ts";
import { evalService, evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";
import { startProviderDouble } from "../../fakes/provider_double.ts";

/** One turn over real HTTP, with a check of its tokens and a price. */
async function evaluate(protocol: "openai" | "agent", answer: Record<string, unknown>) {
  await using double = await startProviderDouble(() => Response.json(answer));
  const target = priceTarget(endpointTarget(protocol, double), {
    input: 3,
    output: 15,
    currency: "USD",
  });
  const { service } = evalService(undefined, { target });
  const checks = [{ type: "max_output_tokens", value: 5 }];
  const { results } = await evaluateWith(
    service,
    evaluateBody({
      test_batch: { id: "s", interactions: [{ id: "i", user_message: "?", checks }] },
    }),
  );
  const { usage, cost, check_results } = results.scenarios[0]!.attempts[0]!.interactions[0]!;
  return { usage, cost, check: check_results![0]!.value, unknown: results.cost!.unknown };
}

const completion = (usage: unknown) => ({
  choices: [{ message: { role: "assistant", content: "Paris" }, finish_reason: "stop" }],
  usage,
});
const message = (usage_metadata: unknown) => ({ type: "ai", content: "Paris", usage_metadata });
const notCounted = { usage: null, cost: null, check: 0 as const, unknown: 1 };

Deno.test("an agent that was not told the tokens sends zeros: the cost is unknown, not 0", async () => {
  const zeros = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  assertEquals(await evaluate("agent", message(zeros)), notCounted);
  const counted = { input_tokens: 1_000, output_tokens: 6, total_tokens: 1_006 };
  assertEquals(await evaluate("agent", message(counted)), {
    usage: counted,
    cost: { amount: 0.00309, currency: "USD" },
    check: 0,
    unknown: 0,
  });
});

Deno.test("so it is for an endpoint that sends zeros, -1 or the total alone", async () => {
  const unknown = [
    { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    { prompt_tokens: -1, completion_tokens: -1, total_tokens: -1 },
    { total_tokens: 12 },
  ];
  for (const usage of unknown) {
    assertEquals(await evaluate("openai", completion(usage)), notCounted);
  }
});

Deno.test("less than no tokens are not counted", async () => {
  const { usage } = await evaluate(
    "openai",
    completion({ prompt_tokens: 9, completion_tokens: -2, total_tokens: 7 }),
  );
  assertEquals(usage, { input_tokens: 9, output_tokens: 0, total_tokens: 7 });
  const tokens = { input_tokens: 9, output_tokens: -2, total_tokens: 7 };
  assertEquals(await evaluate("agent", message(tokens)), notCounted);
});
