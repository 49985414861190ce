import { assert, assertEquals } from "@std/assert";
import { createPairComparer } from "../../eval/score/scores/lexical/pair_scores.ts";
import type { WorkerPort } from "../../shared/service/worker_call.ts";
import { evalService, evaluateBody, evaluateWith } from "../fakes/eval_service.ts";
import { fakeEmbedder, scoringPorts } from "../fakes/scoring_ports.ts";

const POISON = {
  "22 MB": "qzx7 pl0w mmk4 ".repeat(1_500_000),
  "4.2 million Chinese characters": "您的订单已经发货".repeat(525_000),
};

/** The usual fakes would read the whole text; the real ones read a part. */
const { embedder } = fakeEmbedder({ embed: () => Promise.resolve(new Float32Array([1])) });

for (const [what, poison] of Object.entries(POISON)) {
  Deno.test(`a reply of ${what} is stored, its text scores are missing, and other turns are not affected`, async () => {
    using pairs = createPairComparer();
    const { service } = evalService(
      (conversation) => conversation[0]!.content === "poison" ? poison : "fine",
      { scoring: scoringPorts({ pairs, embedder }) },
    );
    const test_batch = ["poison", "good"].map((user_message) => ({
      id: user_message,
      interactions: [{ id: "i", user_message, reference_reply: "fine" }],
    }));
    const { results } = await evaluateWith(service, evaluateBody({ test_batch }));
    const [bad, good] = results.scenarios.map(({ attempts }) => attempts[0]!.interactions[0]!);
    assert(bad!.agent_reply === poison);
    assertEquals(bad!.error, undefined);
    assertEquals([bad!.scores.chrf, bad!.scores.rouge_l], [null, null]);
    assertEquals(bad!.missing_scores!.chrf, "the reply is longer than 200,000 characters");
    assertEquals([good!.scores.chrf, good!.missing_scores], [1, undefined]);
  });
}

/** A real worker for long texts that some texts kill. */
function startMortalWorker(): WorkerPort {
  return new Worker(new URL("../fakes/mortal_worker.ts", import.meta.url), { type: "module" });
}

Deno.test("a reply that kills a worker fails its own turn only", async () => {
  using pairs = createPairComparer({ start: startMortalWorker });
  const long = "and so on ".repeat(1000);
  const { service } = evalService(
    (conversation) => `${conversation[0]!.content} ${long}`,
    { scoring: scoringPorts({ pairs, embedder }) },
  );
  const test_batch = ["good", "poison", "fine"].map((user_message) => ({
    id: user_message,
    interactions: [{ id: "i", user_message, reference_reply: `${user_message} ${long}` }],
  }));
  const { message, results } = await evaluateWith(service, evaluateBody({ test_batch }));
  assertEquals(message, "Evaluation completed successfully");
  const turns = results.scenarios.map(({ attempts }) => attempts[0]!.interactions[0]!);
  assertEquals(turns.map(({ missing_scores }) => missing_scores?.chrf), [
    undefined,
    "the long text worker is unavailable: Uncaught Error: killed by the reply",
    undefined,
  ]);
  assertEquals(turns.map(({ scores }) => scores.chrf), [1, null, 1]);
});
