import { assertEquals } from "@std/assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createAssessor } from "../../../eval/assess/assessor.ts";
import { interaction, scenario } from "../../fakes/eval_ports.ts";
import { scoringPorts } from "../../fakes/scoring_ports.ts";

/** Scores one reply of a batch, and returns a reference that does not keep the batch alive. */
async function scoreOne(): Promise<WeakRef<object>> {
  const subject = interaction("1", {
    reference_reply: "Your parcel arrives on Monday.",
    reference_metadata: { intent: "delivery" },
  });
  const test_batch = [scenario("s", [subject])];
  const assessor = createAssessor(
    { test_batch, rubric: undefined, judge_votes: 1 },
    { ports: scoringPorts(), signal: new AbortController().signal },
  );
  await assessor.assess(subject, "The parcel comes on Monday.");
  return new WeakRef(test_batch);
}

Deno.test("what is remembered of a reply does not keep its batch in memory", async () => {
  setFlagsFromString("--expose-gc");
  const gc: () => void = runInNewContext("gc");
  const batches = [];
  for (let i = 0; i < 5; i++) batches.push(await scoreOne());
  await new Promise((resolve) => setTimeout(resolve, 0)); // a WeakRef holds until the turn ends
  gc();
  // The last one may still be held by the stack of this test.
  assertEquals(batches.slice(0, -1).map((batch) => batch.deref()), Array(4).fill(undefined));
});
