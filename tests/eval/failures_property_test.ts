import { assert } from "@std/assert";
import fc from "seeded-fast-check";
import type { EvaluateResponse } from "../../eval/test/evaluate_response.ts";
import type { Scores } from "../../eval/test/statistics.ts";
import { providerError } from "../fakes/eval_ports.ts";
import { evalService, evaluateBody, evaluateWith } from "../fakes/eval_service.ts";
import { fakeJudge, scoringPorts } from "../fakes/scoring_ports.ts";

const ATTEMPTS = 2;

/** Turns answered well, badly and in another language, and one without a reference. */
const TURNS = [
  {
    message: "one",
    reference_reply: "We refund the price",
    reference_metadata: { intent: "refund", sentiment: "neutral" },
    reply: "We refund the price",
  },
  {
    message: "two",
    reference_reply: "The parcel arrives",
    reference_metadata: { intent: "delivery" },
    reply: "Bananas grow slowly",
  },
  {
    message: "three",
    reference_reply: "Das Päckchen kommt",
    reference_metadata: { sentiment: "positive" },
    reply: "Das Päckchen kommt",
  },
  { message: "four", reply: "anything" },
];

const test_batch = [TURNS.slice(0, 2), TURNS.slice(2)].map((turns, index) => ({
  id: `s${index}`,
  interactions: turns.map(({ message, reply: _, ...turn }) => ({
    ...turn,
    id: message,
    user_message: message,
  })),
}));

/** Runs the batch; `failing` are the calls that fail, by turn and number of the attempt. */
async function run(failing: Set<string>): Promise<EvaluateResponse> {
  const asked = new Map<string, number>();
  const { judge } = fakeJudge(({ messages }) =>
    messages[1]!.content.includes("We refund the price") ? '{"reason": "", "grade": 9}' : "?"
  );
  const { service } = evalService((conversation) => {
    const message = conversation.at(-1)!.content;
    const time = asked.get(message) ?? 0;
    asked.set(message, time + 1);
    if (failing.has(`${message} ${time}`)) throw providerError(500);
    return TURNS.find((turn) => turn.message === message)!.reply;
  }, { scoring: scoringPorts({ judge }) });
  return await evaluateWith(service, evaluateBody({ test_batch, attempts: ATTEMPTS }));
}

/** The averages of the run, of each scenario and of each attempt. */
function averages({ results }: EvaluateResponse): Scores[] {
  return [
    results,
    ...results.scenarios.flatMap((scenario) => [scenario, ...scenario.attempts]),
  ].map(({ average_scores }) => average_scores);
}

Deno.test("whichever calls fail, no average of any score at any level rises", async () => {
  const healthy = averages(await run(new Set()));
  const calls = TURNS.flatMap(({ message }) =>
    Array.from({ length: ATTEMPTS }, (_, time) => `${message} ${time}`)
  );
  await fc.assert(
    fc.asyncProperty(fc.subarray(calls), async (failing) => {
      const failed = averages(await run(new Set(failing)));
      for (const [level, scores] of failed.entries()) {
        for (const [name, value] of Object.entries(scores)) {
          const before = healthy[level]![name] ?? 0;
          assert((value ?? 0) <= before + 1e-12, `${name} rose from ${before} to ${value}`);
        }
      }
    }),
    { numRuns: 40 },
  );
});
