import { assertEquals } from "@std/assert";
import { words } from "../../../../eval/assess/text/words.ts";

const CASES: [text: string, expected: string[], why: string][] = [
  ["It's 5:30 p.m.", ["it", "s", "5", "30", "p", "m"], "ASCII is cut as rouge_score cuts it"],
  ["snake_case", ["snake", "case"], "an underscore is no letter"],
  ["Grüße", ["grüße"], "letters beyond ASCII stay in their word"],
  ["cafe\u0301", ["café"], "a mark belongs to its letter"],
  ["ＦＵＬＬ", ["full"], "compatibility forms are folded"],
  ["您的订单。已经", ["您", "的", "订单", "已经"], "Chinese is cut by dictionary"],
  ["我的iPhone手机", ["我的", "iphone", "手机"], "a Latin word inside Chinese stays whole"],
  ["สินค้าของคุณ", ["สินค้า", "ของ", "คุณ"], "Thai is cut by dictionary, its marks included"],
  ["ฉันทำงานที่บ้าน", ["ฉัน", "ทำงาน", "ที่", "บ้าน"], "the Thai vowel AM is a part of its word"],
  [
    "น\u0e4d\u0e49\u0e32ดื่ม",
    ["น้ำ", "ดื่ม"],
    "a Thai vowel AM that was typed in two halves is the same",
  ],
  ["ຄຳແນະນຳ", ["ຄຳ", "ແນະນຳ"], "so is the Lao one"],
  ["주문하신 상품", ["주문하신", "상품"], "Korean has spaces"],
  ["नमस्ते दुनिया", ["नमस्ते", "दुनिया"], "Devanagari vowel signs are marks, not gaps"],
  ["👨‍👩‍👧 ok 👍🏽🇩🇪", ["👨‍👩‍👧", "ok", "👍🏽", "🇩🇪"], "a family, a tone and a flag are one token each"],
  ["❤️ ❤", ["❤", "❤"], "the coloured form of a sign is the same sign"],
  ["\ud800 x", ["x"], "half a surrogate pair is no word"],
  ["?! …", [], "punctuation is no word"],
];

for (const [text, expected, why] of CASES) {
  Deno.test(`words: ${why}`, () => assertEquals(words(text), expected));
}
