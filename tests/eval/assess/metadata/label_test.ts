import { assert, assertEquals } from "@std/assert";
import { batchLabels, indexLabels, isSameLabel } from "../../../../eval/assess/metadata/label.ts";
import type { Scenario } from "../../../../eval/schemas/scenario.ts";
import { interaction, scenario } from "../../../fakes/eval_ports.ts";

/** A batch that counts how often it is walked. */
function countingBatch(metadata: Record<string, unknown>[]) {
  let walks = 0;
  const turns = metadata.map((reference_metadata) => interaction("i", { reference_metadata }));
  const counted: Scenario = Object.defineProperty(scenario("s", []), "interactions", {
    get() {
      walks++;
      return turns;
    },
  });
  return { batch: [counted], walks: () => walks };
}

const manyKeys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`key ${at}`, "label"]));

Deno.test("a key's labels are as they were first written, in their order", () => {
  const { batch } = countingBatch([{ topic: "Refund" }, { topic: " refund" }, { topic: 2 }, {}]);
  assertEquals([...batchLabels("topic", batch)], [["refund", "Refund"], ["2", 2]]);
  assertEquals(batchLabels("constructor", batch).size, 0);
});

Deno.test("labels of digits are the same by their value, and long ones by every digit", () => {
  assert(isSameLabel("5", 5) && isSameLabel("5.0", "5"));
  assert(!isSameLabel("4111111111111111111", "4111111111111111112"));
  assert(!isSameLabel("9007199254740993", "9007199254740992"));
  assert(isSameLabel(" 4111111111111111111", "4111111111111111111"));
});

Deno.test("a batch is walked once, however many keys are asked for", () => {
  const { batch, walks } = countingBatch([manyKeys(50)]);
  for (const key of [...Object.keys(manyKeys(50)), "absent"]) batchLabels(key, batch);
  assertEquals(walks(), 1);
});

Deno.test("labels are indexed ahead in pieces, and not again", async () => {
  const { batch, walks } = countingBatch([manyKeys(100_000)]);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await indexLabels(batch);
  clearInterval(timer);
  assert(turns > 0, "the event loop stood still");
  assertEquals(batchLabels("key 7", batch).size, 1);
  assertEquals(walks(), 1);
});
