import { assert, assertEquals } from "@std/assert";
import { createMetadataReader } from "../../eval/annotation.ts";
import { createBatchSemantics } from "../../eval/batch_semantics.ts";
import { indexLabels } from "../../eval/metadata/label.ts";
import { interaction, scenario } from "../fakes/eval_ports.ts";
import { fakeDetector, fakeEmbedder } from "../fakes/scoring_ports.ts";

Deno.test("a turn of very many keys lets the event loop turn", async () => {
  const keys = Array.from({ length: 50_000 }, (_, at) => [`key ${at}`, "greeting"]);
  const turn = interaction("i", { reference_metadata: Object.fromEntries(keys) });
  const batch = [scenario("s", [turn])];
  await indexLabels(batch); // its own pauses are not the ones that are counted here
  const { embedder } = fakeEmbedder();
  const semantics = createBatchSemantics(batch, { embedder, detector: fakeDetector });
  const signal = new AbortController().signal;
  const read = createMetadataReader(batch, { semantics, judge: undefined, signal });
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const { generatedMetadata } = await read({ text: "Hello there!", interaction: turn });
  clearInterval(timer);
  assert(turns > 0, "the event loop stood still");
  assertEquals(Object.keys(generatedMetadata).length, keys.length);
});
