import { assertEquals } from "@std/assert";
import { createAssessor } from "../../../eval/assess/assessor.ts";
import { isForEnglishEncoder, referenceOf, referencesOf } from "../../../eval/assess/references.ts";
import { interaction, scenario } from "../../fakes/eval_ports.ts";
import { scoringPorts } from "../../fakes/scoring_ports.ts";

Deno.test("the first reference says whether a batch is one for the English encoder", () => {
  const cases: [string[], boolean][] = [
    [["The parcel is here."], true],
    [["", "The parcel is here."], true],
    [["", ""], false],
    [["42"], false],
    [["您的订单已经发货。"], false],
  ];
  for (const [references, expected] of cases) {
    const interactions = references.map((reference_reply, i) =>
      interaction(`${i}`, { reference_reply })
    );
    assertEquals(isForEnglishEncoder([scenario("s", interactions)]), expected, `${references}`);
  }
});

Deno.test("a reply may match any of several references, and each score is its nearest one's", async () => {
  const turn = interaction("1", {
    reference_reply: "Paris",
    reference_replies: ["Paris", "The city of light", "42"],
  });
  const assessor = createAssessor({ test_batch: [scenario("s", [turn])] }, {
    ports: scoringPorts(),
    signal: AbortSignal.timeout(10_000),
  });
  for (const reply of ["Paris", "The city of light", "The answer is 42."]) {
    const { scores } = await assessor.assess(turn, reply);
    assertEquals(scores.semantic_similarity, 1, reply);
  }
  const { scores } = await assessor.assess(turn, "London");
  assertEquals([scores.exact_match, scores.semantic_similarity! < 0.7], [0, true]);
});

Deno.test("references may be a list alone, and its first one is the result's reference", () => {
  const turn = interaction("1", { reference_replies: ["", "yes", "sure"] });
  assertEquals(referencesOf(turn), ["yes", "sure"]);
  assertEquals(referenceOf(turn), "yes");
});
