import { allDifferent, mostlyRight } from "./eval_workloads.ts";
import { CONCURRENCY, createBatch, createEvaluator } from "./eval_service.ts";
import { elapsedMs, ratios, report, sideBySide, startEndpoint } from "./measure.ts";

const ROUNDS = 5;
const SCENARIOS = 200;
const ATTEMPTS = 3;
const TURNS = 2;
const CALLS = SCENARIOS * ATTEMPTS * TURNS;

/** Realistic workloads, and one with equal replies, which shows what the rest of a run costs. */
export async function evalSpeed(): Promise<void> {
  await mostlyRight();
  await allDifferent();
  await oneReply();
}

/** 200 scenarios × 3 attempts × 2 turns against the limit, and against a bare `fetch` loop. */
async function oneReply(): Promise<void> {
  await using endpoint = await startEndpoint();
  await using evaluator = await createEvaluator();
  const { evaluate } = evaluator;
  const batch = createBatch(SCENARIOS, TURNS);
  const run = (delayMs: number) => () => evaluate(batch, endpoint.url(delayMs), ATTEMPTS);
  for (let round = 0; round < 3; round++) await run(0)(); // warm

  const limit = CALLS * 50 / CONCURRENCY;
  const byLimit: number[] = [];
  const inTurn: number[] = [];
  const atOnce: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    byLimit.push(await elapsedMs(run(50)) / limit);
    inTurn.push(await elapsedMs(() => bareLoop(batch, { url: endpoint.url(0), width: 1 })));
    atOnce.push(
      await elapsedMs(() => bareLoop(batch, { url: endpoint.url(0), width: CONCURRENCY })),
    );
    ours.push(await elapsedMs(run(0)));
  }
  const loops = { "one call after another": inTurn, [`${CONCURRENCY} at once`]: atOnce };
  report("50 ms endpoint: time / limit", byLimit, { unit: "×", bound: 1.2 });
  report("0 ms endpoint: evaluation", ours, { unit: "ms", digits: 0 });
  for (const [how, bare] of Object.entries(loops)) {
    report(`0 ms endpoint: bare fetch loop, ${how}`, bare, { unit: "ms", digits: 0 });
    report("0 ms endpoint: evaluation / that loop", ratios(ours, bare), { unit: "×", bound: 2 });
  }
}

/** The calls of the evaluation: each conversation in order, its history growing. */
async function bareLoop(
  batch: ReturnType<typeof createBatch>,
  { url, width }: { url: string; width: number },
): Promise<void> {
  const conversations = Array.from({ length: ATTEMPTS }, () => batch).flat();
  await sideBySide(conversations, width, async ({ interactions }) => {
    const messages: { role: string; content: string }[] = [];
    for (const { user_message } of interactions) {
      messages.push({ role: "user", content: user_message });
      const response = await fetch(`${url}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "m", messages }),
      });
      const { choices } = await response.json();
      messages.push({ role: "assistant", content: choices[0].message.content });
    }
  });
}
