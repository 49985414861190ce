import { assertEquals } from "@std/assert";
import {
  findWrongValues,
  writeValuesAlike,
} from "../../../../eval/assess/agreement/wrong_values.ts";
import pairs from "./data/chat_pairs.json" with { type: "json" };

const wrong = (reply: string, reference: string) =>
  findWrongValues(reply, reference).map(({ text }) => text);

const DIFFERENT: [reference: string, reply: string, says: string][] = [
  ["Returns are accepted for 30 days.", "You have 60 days.", "60 days instead of 30 days"],
  ["Your order number is 48213.", "It is 48231.", "48231 instead of 48213"],
  ["It costs $45.", "It costs $54.", "$54 instead of $45"],
  ["The rent is 900 euros.", "The rent is 900 dollars.", "900 dollars instead of 900 euros"],
  ["It takes 20 minutes.", "It takes 20 seconds.", "20 seconds instead of 20 minutes"],
  ["Das dauert 20 Minuten.", "Das dauert 20 Sekunden.", "20 Sekunden instead of 20 Minuten"],
  ["Set it to 180 °C.", "Set it to 180 °F.", "180 °F instead of 180 °C"],
  ["It leaves at 7:45 am.", "It leaves at 7:45 pm.", "7:45 pm instead of 7:45 am"],
  ["Due on 15 March.", "Due on March 25.", "March 25 instead of 15 March"],
  ["Le 15 mars 2024.", "Le 16/03 ou le 16 mars 2024.", "16 mars 2024 instead of 15 mars 2024"],
  ["Gate B12.", "Gate B21.", "B21 instead of B12"],
  ["订单号是 48213。", "订单号是 48231。", "48231 instead of 48213"],
  ["About 3 million.", "About 3 billion.", "3 billion instead of 3 million"],
];

for (const [reference, reply, says] of DIFFERENT) {
  Deno.test(`a wrong value is named: ${says}`, () => {
    assertEquals(wrong(reply, reference), [says]);
  });
}

const EQUAL: [reference: string, reply: string][] = [
  ["The package weighs 2 kg.", "It weighs 2000 g."],
  ["It is 1.5 km away.", "It's 1,500 metres."],
  ["Your balance is $1,250.", "You have 1250 dollars."],
  ["The film lasts 90 minutes.", "It lasts 1.5 hours."],
  ["Open from 9 am to 5 pm.", "From 9:00 to 17:00."],
  ["On 3 May 2024.", "On May 3rd."],
  ["It costs 1 250 kr.", "It costs 1250 kr."],
  ["Three items.", "There are 3 items in 2 boxes."],
  ["3 items.", "There are three items in 2 boxes."],
  ["The trial lasts 14 days.", "It lasts two weeks. Call 555-0142."],
  ["Save, then restart.", "1. Save.\n2. Restart."],
  ["Version 2.10.1 fixes it.", "It is fixed in v2.10.1."],
  ["It costs $12 and has 5 users.", "It costs $12."],
];

for (const [reference, reply] of EQUAL) {
  Deno.test(`no value is wrong: "${reference}" and "${reply.replace("\n", " ")}"`, () => {
    assertEquals(wrong(reply, reference), []);
  });
}

Deno.test("values that are the same are written as the reference has them", () => {
  assertEquals(
    writeValuesAlike("It's 1,500 metres, and 3 floors up.", "1.5 km away, on floor 3."),
    "It's 1.5 km, and 3 floors up.",
  );
  assertEquals(writeValuesAlike("10000 came.", "Around 10,000 came."), "10,000 came.");
});

Deno.test("at most one of a hundred pairs that say the same has a wrong value", async () => {
  const table = await Promise.all(
    ["development", "held_out"].map((part) =>
      Deno.readTextFile(new URL(`data/differences_${part}.tsv`, import.meta.url))
    ),
  );
  const same = table.flatMap((text) => text.trim().split("\n")).map((line) => line.split("\t"))
    .filter(([, kind]) => kind === "-").map(([, , reference, reply]) => [reference!, reply!]);
  const all = [...same, ...pairs.equivalent, ...pairs.padded];
  const alarms = all.filter(([reference, reply]) => wrong(reply!, reference!).length > 0);
  assertEquals(alarms.length <= all.length / 100, true, `${alarms.length} of ${all.length}`);
});
