import { assertEquals } from "@std/assert";
import { createAssessor } from "../../eval/assessor.ts";
import type { Interaction } from "../../shared/schemas/evaluate.ts";
import { interaction, scenario } from "../fakes/eval_ports.ts";

const refund = (id: string, reference_reply: string) =>
  interaction(id, { reference_reply, reference_metadata: { intent: "refund" } });
const delivery = (id: string, reference_reply: string) =>
  interaction(id, { reference_reply, reference_metadata: { intent: "delivery" } });

const BATCH = [
  refund("r1", "Your money goes back to your card within five days."),
  refund("r2", "We refund the full price to your card."),
  delivery("d1", "The parcel arrives on Thursday."),
  delivery("d2", "Your parcel was shipped and arrives soon."),
];

function assess(subject: Interaction, reply: string, batch: Interaction[] = BATCH) {
  return createAssessor([scenario("s", batch)]).assess(subject, reply);
}

Deno.test("a reply gets the intent of the reference it is nearest to", async () => {
  const { generatedMetadata, scores } = await assess(BATCH[0]!, "We refund it to your card.");
  assertEquals(generatedMetadata, { intent: "refund" });
  assertEquals(scores.intent_match, 1);
});

Deno.test("a reply of another intent does not match", async () => {
  const { generatedMetadata, scores } = await assess(BATCH[0]!, "The parcel arrives soon.");
  assertEquals(generatedMetadata, { intent: "delivery" });
  assertEquals(scores.intent_match, 0);
});

Deno.test("a reply's own reference does not vote where its label has another example", async () => {
  // Its own reference speaks of a parcel; the other refund does not.
  const odd = refund("odd", "The parcel arrives with your money.");
  const { generatedMetadata } = await assess(odd, "The parcel arrives with your money.", [
    odd,
    refund("r", "We refund the price."),
    delivery("d", "Your parcel arrives today."),
  ]);
  assertEquals(generatedMetadata, { intent: "delivery" });
});

Deno.test("with one label only, or no word in common, the intent is left open", async () => {
  const alone = await assess(BATCH[0]!, "We refund it.", BATCH.slice(0, 2));
  assertEquals(alone.generatedMetadata, {});
  assertEquals(alone.scores.intent_match, null);
  const foreign = await assess(BATCH[0]!, "Guten Tag");
  assertEquals(foreign.scores.intent_match, null);
});

const MOODS: [reply: string, sentiment: string][] = [
  ["I am happy to help, that is a great choice!", "positive"],
  ["I am sorry, this is a terrible mistake.", "negative"],
  ["The parcel has two parts.", "neutral"],
];

for (const [reply, sentiment] of MOODS) {
  Deno.test(`"${reply}" is ${sentiment}`, async () => {
    const subject = interaction("1", { reference_metadata: { sentiment } });
    const { generatedMetadata, scores } = await assess(subject, reply);
    assertEquals(generatedMetadata, { sentiment });
    assertEquals(scores.sentiment_match, 1);
  });
}

Deno.test("labels match without regard to case and blanks", async () => {
  const subject = interaction("1", { reference_metadata: { sentiment: " Positive" } });
  assertEquals((await assess(subject, "Great!")).scores.sentiment_match, 1);
});

Deno.test("a blank reply matches no label", async () => {
  const subject = interaction("1", {
    reference_metadata: { sentiment: "neutral", intent: "refund" },
  });
  const { scores } = await assess(subject, "  ");
  assertEquals([scores.sentiment_match, scores.intent_match], [0, 0]);
});

Deno.test("overall is the mean of the scores that apply", async () => {
  const subject = interaction("1", {
    reference_reply: "Great, thanks!",
    reference_metadata: { sentiment: "negative" },
  });
  const { scores } = await assess(subject, "great thanks");
  assertEquals(scores, {
    exact_match: 1,
    token_f1: 1,
    rouge_l: 1,
    sentiment_match: 0,
    overall: 0.75,
  });
});

Deno.test("a failed turn counts 0 in every score that it would have had", () => {
  const assessor = createAssessor([scenario("s", BATCH)]);
  assertEquals(assessor.failed(BATCH[0]!), {
    exact_match: 0,
    token_f1: 0,
    rouge_l: 0,
    intent_match: 0,
    overall: 0,
  });
  assertEquals(assessor.failed(interaction("bare")), {
    exact_match: null,
    token_f1: null,
    rouge_l: null,
    overall: 0,
  });
});
