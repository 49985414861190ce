import { assertEquals } from "@std/assert";
import { showCost } from "../../../eval/export/text/text_form.ts";

const show = (amount: number) => showCost({ amount, currency: "USD", turns: 1, unknown: 0 });

Deno.test("a small cost has four digits that say something, a large one its hundredths", () => {
  assertEquals([0.000279, 0.0104974, 1.23456, 99.994].map(show), [
    "0.000279 USD",
    "0.0105 USD",
    "1.235 USD",
    "99.99 USD",
  ]);
  assertEquals([123.456, 1234.5, 12_345.67].map(show), [
    "123.46 USD",
    "1234.5 USD",
    "12345.67 USD",
  ]);
});
