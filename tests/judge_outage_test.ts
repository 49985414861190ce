import { assert, assertEquals } from "@std/assert";
import { EvalConfig } from "../eval/config.ts";
import { createScoringPorts } from "../eval/score/wiring.ts";
import { parseConfig } from "../shared/service/config.ts";
import { evalService, evaluateBody, evaluateWith } from "./fakes/eval_service.ts";
import { memoryStore } from "./fakes/memory_store.ts";
import { fakeEmbedder, withNonce } from "./fakes/scoring_ports.ts";
import { type ComparedTwo, pairIn } from "./fakes/compare_two.ts";

/** What the judge does with a call: grade, answer 500, close the connection, or chat. */
type Behaviour = (call: number) => "grade" | "500" | "reset" | "chat";

/** A judge over HTTP; its grades are low and differ from question to question. */
function startJudge(behave: Behaviour) {
  let calls = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { messages } = await request.json();
    const prompt = messages.map(({ content }: { content: string }) => content).join("\n");
    const behaviour = behave(calls++);
    if (behaviour === "chat") {
      return Response.json({ choices: [{ message: { content: "What a fine answer!" } }] });
    }
    if (behaviour === "500") return new Response("down", { status: 500 });
    if (behaviour === "reset") {
      const cut = new ReadableStream({ pull: (controller) => controller.error(new Error("cut")) });
      return new Response(cut);
    }
    const grade = Number(/question (\d+)/.exec(prompt)?.[1]) % 5;
    const content = withNonce(JSON.stringify({ reason: "thin", grade }), prompt);
    return Response.json({ choices: [{ message: { content } }] });
  });
  return { url: `http://127.0.0.1:${server.addr.port}/v1`, close: () => server.shutdown() };
}

const BATCH = Array.from({ length: 12 }, (_, index) => ({
  id: `s${index}`,
  interactions: [{
    id: "1",
    user_message: `question ${index}`,
    reference_reply: `This is the answer to question ${index}, and it is the whole answer.`,
  }],
}));

/** Replies that are the same in every run, word for word. */
const reply = (question: string) =>
  `This is the answer to ${question}, and more or less the answer.`;

/** `refuses`: nothing listens at the judge's address. `unset`: no judge is configured. */
type Outage = Behaviour | "refuses" | "unset";

async function startFailingJudge(outage: Outage) {
  if (outage === "unset") return undefined;
  const judge = startJudge(outage === "refuses" ? () => "grade" : outage);
  if (outage !== "refuses") return judge;
  await judge.close();
  return { ...judge, close: () => Promise.resolve() };
}

/** Runs the batch twice, first with a working judge, and compares. */
async function compareWithOutage(outage: Outage) {
  const store = memoryStore();
  const evaluate = async (judge: { url: string } | undefined) => {
    const config = parseConfig(EvalConfig, {
      MODEL_RETRIES: "0",
      ...(judge && { JUDGE_BASE_URL: judge.url, JUDGE_MODEL: "judge-1" }),
    });
    const scoring = {
      ...createScoringPorts(config, fetch),
      embedder: fakeEmbedder().embedder,
    };
    const { service } = evalService((conversation) => reply(conversation[0]!.content), {
      store,
      scoring,
    });
    const answer = await evaluateWith(service, evaluateBody({ test_batch: BATCH }));
    return { service, answer };
  };
  const works = startJudge(() => "grade");
  const fails = await startFailingJudge(outage);
  try {
    const baseline = (await evaluate(works)).answer;
    const { service, answer: candidate } = await evaluate(fails);
    const ask = async (from: { run_id: string }, to: { run_id: string }): Promise<ComparedTwo> => {
      const query = `baseline=${from.run_id}&candidate=${to.run_id}`;
      const response = await service(new Request(`http://127.0.0.1:8080/compare?${query}`));
      assertEquals(response.status, 200);
      return pairIn(await response.json());
    };
    return {
      baseline,
      candidate,
      there: await ask(baseline, candidate),
      back: await ask(candidate, baseline),
    };
  } finally {
    await Promise.all([works.close(), fails?.close()]);
  }
}

const OUTAGES: [what: string, outage: Outage, missing: number][] = [
  ["answers 500", () => "500", 12],
  ["cuts the connection", () => "reset", 12],
  ["misses every second verdict", (call) => call % 2 === 0 ? "grade" : "500", 6],
  ["answers in prose", () => "chat", 12],
  ["refuses connections", "refuses", 12],
  ["is not configured", "unset", 0],
];

for (const [what, outage, missing] of OUTAGES) {
  Deno.test(`the same replies are neither better nor worse because the judge ${what}`, async () => {
    const { baseline, candidate, there, back } = await compareWithOutage(outage);
    assertEquals(baseline.message, "Evaluation completed successfully");
    const { statistics, average_scores } = candidate.results;
    assertEquals(statistics.overall!.missing, missing);
    assertEquals(/have no overall score/.test(candidate.message), missing > 0);
    if (outage !== "unset") {
      assert(average_scores.overall! < baseline.results.average_scores.overall!);
    }
    for (const { verdict } of [there, back]) assertEquals(verdict, "inconclusive");
  });
}
