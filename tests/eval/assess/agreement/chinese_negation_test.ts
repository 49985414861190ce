import { assert, assertEquals } from "@std/assert";
import { findNegation } from "../../../../eval/assess/agreement/chinese_negation.ts";

const text = await Deno.readTextFile(
  new URL("./data/differences_development.tsv", import.meta.url),
);
const CHINESE = text.split("\n").map((line) => line.split("\t")).filter(([language]) =>
  language === "zh"
);
const sayIt = (reply: string, reference: string) =>
  findNegation(reply, reference).map(({ text }) => text);

Deno.test("a Chinese reply that is negated where its reference is not, or the reverse, is named", () => {
  assertEquals(sayIt("您不能退货。", "您可以退货。"), ["不, which the reference does not have"]);
  assertEquals(sayIt("包裹到了。", "包裹没到。"), ["without 没 of the reference"]);
  assertEquals(sayIt("不含税。", "不含税。"), []);
});

Deno.test("characters that negate nothing, set phrases and questions are no negation", () => {
  assertEquals(sayIt("非常好用。", "好用。"), []);
  assertEquals(sayIt("没问题，订单已取消。", "订单已取消。"), []);
  assertEquals(sayIt("是不是支持蓝牙？支持蓝牙。", "支持蓝牙。"), []);
});

Deno.test("most negations of our Chinese pairs are found, and none in pairs that say the same", () => {
  const found = (kind: string) => {
    const some = CHINESE.filter(([, own]) => own === kind);
    return some.filter(([, , reference, reply]) => sayIt(reply!, reference!).length > 0).length /
      some.length;
  };
  assert(found("negation") >= 0.8);
  assertEquals(found("-"), 0);
});

Deno.test("Japanese and other languages are left alone", () => {
  assertEquals(sayIt("返品は不可です。", "返品は可です。"), []);
  assertEquals(sayIt("Non è possibile.", "È possibile."), []);
});
