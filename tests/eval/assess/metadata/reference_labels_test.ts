import { assertEquals } from "@std/assert";
import { createReferenceLabels } from "../../../../eval/assess/metadata/reference_labels.ts";
import type { Metadata } from "../../../../eval/schemas/scenario.ts";
import { interaction, scenario } from "../../../fakes/eval_ports.ts";

const turn = (reference_reply: string, reference_metadata: Metadata) =>
  interaction(reference_reply, { reference_reply, reference_metadata });

const TURNS = [
  turn("Your money is back.", { intent: "Refund", priority: 2 }),
  turn("The parcel is here.", { intent: "Delivery" }),
  turn("All done.", { intent: "Refund" }),
  turn("All done!", { intent: "Delivery" }),
  turn("", { intent: "Nothing" }),
  turn("?!", { intent: "Doubt" }),
];

async function find(key: string, text: string, asked = TURNS[0]!) {
  const labels = await createReferenceLabels([scenario("s", TURNS)]);
  return labels.find(key, { text, interaction: asked });
}

Deno.test("a reply that says what a reference says has its labels, whichever turn it answers", async () => {
  assertEquals(await find("intent", "YOUR MONEY is  back"), {
    value: "Refund",
    method: "same_text",
    confidence: 1,
  });
  assertEquals((await find("priority", "your money is back!", TURNS[1]!))?.value, 2);
  assertEquals((await find("intent", "the parcel is here", TURNS[0]!))?.value, "Delivery");
  assertEquals((await find("intent", "?!"))?.value, "Doubt");
});

Deno.test("another text, and a key that the reference has not, are for others to label", async () => {
  assertEquals(await find("intent", "Your money is back, or is it?"), undefined);
  assertEquals(await find("priority", "The parcel is here."), undefined);
  assertEquals(await find("intent", ""), undefined);
});

Deno.test("if references of one text differ, the turn's own label decides, else there is none", async () => {
  assertEquals((await find("intent", "All done", TURNS[3]!))?.value, "Delivery");
  assertEquals((await find("intent", "All done", TURNS[2]!))?.value, "Refund");
  assertEquals(await find("intent", "All done", TURNS[5]!), {
    value: undefined,
    method: "same_text",
    confidence: null,
    reason: "2 references have this text and different labels",
  });
});

Deno.test("a very long reply is taken for no reference", async () => {
  assertEquals(await find("intent", `Your money is back.${" ".repeat(200_000)}`), undefined);
});
