import { assertEquals } from "@std/assert";
import { isChinese } from "../../../../eval/assess/language/language.ts";

const CHINESE = "您的包裹已经在路上，周五送到。";
const JAPANESE = "お荷物は発送済みで、金曜日に届きます。";

const CASES: [text: string, context: string, expected: boolean, why: string][] = [
  [CHINESE, CHINESE, true, "Han characters alone"],
  [JAPANESE, CHINESE, false, "kana in the text"],
  ["営業中", JAPANESE, false, "a few Han characters in a Japanese batch"],
  ["营业中", CHINESE, true, "a few Han characters in a Chinese batch"],
  ["请您在今天下午三点之前到前台领取您的包裹，谢谢。", JAPANESE, true, "a sentence without kana"],
  ["优之良品の零食，现在购买满五十元即可免费送货上门。", "", true, "one kana in a name"],
  ["The parcel", CHINESE, false, "no Han characters"],
];

for (const [text, context, expected, why] of CASES) {
  Deno.test(`${why}: ${expected ? "" : "not "}Chinese`, () => {
    assertEquals(isChinese(text, context), expected);
  });
}
