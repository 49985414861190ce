import { assertEquals } from "@std/assert";
import { isForEnglishEncoder } from "../../../eval/assess/references.ts";
import { interaction, scenario } from "../../fakes/eval_ports.ts";

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
