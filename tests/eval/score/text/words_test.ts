import { assertEquals, assertNotEquals } from "@std/assert";
import fc from "seeded-fast-check";
import {
  countItems,
  countShared,
  lcsLength,
  sharedNgrams,
} from "../../../../eval/score/text/overlap.ts";
import { normalText } from "../../../../eval/score/metadata/label.ts";
import { squadTokens } from "../../../../eval/score/scores/lexical/squad.ts";
import { compareWordless } from "../../../../eval/score/text/wordless.ts";
import { words } from "../../../../eval/score/words.ts";

/** The textbook algorithm: slow and simple. */
function tableLcs(left: string[], right: string[]): number {
  let above = new Array<number>(right.length + 1).fill(0);
  for (const token of left) {
    const row = [0];
    right.forEach((other, j) =>
      row.push(token === other ? above[j]! + 1 : Math.max(row[j]!, above[j + 1]!))
    );
    above = row;
  }
  return above[right.length]!;
}

const texts = (alphabet: string, maxLength: number, minLength = 0) =>
  fc.array(fc.constantFrom(...alphabet), { minLength, maxLength });

Deno.test("the bit-parallel subsequence is as long as the textbook's, few distinct tokens", () => {
  fc.assert(fc.property(texts("ab", 200), texts("ab", 200), (left, right) => {
    assertEquals(lcsLength(left, right), tableLcs(left, right));
  }));
});

Deno.test("the bit-parallel subsequence is as long as the textbook's, many distinct tokens", () => {
  const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  fc.assert(fc.property(texts(letters, 400), texts(letters, 400), (left, right) => {
    assertEquals(lcsLength(left, right), tableLcs(left, right));
  }));
});

Deno.test("the bit-parallel subsequence is as long as the textbook's, about as long as a word", () => {
  fc.assert(fc.property(texts("abcd", 36, 28), texts("abcd", 36, 28), (left, right) => {
    assertEquals(lcsLength(left, right), tableLcs(left, right));
  }));
});

Deno.test("a carry runs on through words without a match", () => {
  const right = ["a", ...new Array<string>(89).fill("x"), "a", ...new Array<string>(50).fill("y")];
  const left = ["z", "a", "q", "a", "z"];
  assertEquals(lcsLength(left, right), 2);
});

/** By the definition: the n-grams themselves, in bags. */
function sharedGrams(left: string[], right: string[], order: number): number {
  const bag = (tokens: string[]) =>
    countItems(
      tokens.slice(order - 1).map((_, i) => JSON.stringify(tokens.slice(i, i + order))),
    );
  return countShared(bag(left), bag(right));
}

function assertShared(left: string[], right: string[]): void {
  const expected = [1, 2, 3, 4, 5, 6].map((order) => sharedGrams(left, right, order));
  assertEquals(sharedNgrams(left, right, 6), expected);
}

const tokens = (distinct: number, maxLength: number) =>
  fc.array(fc.integer({ min: 0, max: distinct - 1 }).map(String), { maxLength });

for (const [distinct, length] of [[3, 60], [40, 60], [1000, 400]] as const) {
  Deno.test(`shared n-grams are those of the definition, ${length} of ${distinct} tokens`, () => {
    const lists = fc.tuple(tokens(distinct, length), tokens(distinct, length));
    const many = lists.map(([left, right]): [string[], string[]] => [left, [...left, ...right]]);
    fc.assert(fc.property(fc.oneof(lists, many), ([left, right]) => {
      assertShared(left, right);
    }));
  });
}

const SAME: [left: string, right: string, why: string][] = [
  ["Your money is back.", "your money is back", "letter case and a full stop"],
  ["  Your  money\nis back! ", "Your money is back", "blanks and line ends"],
  ["„Ja, gern!“", "ja, gern", "quotation marks around it"],
  ["ＯＫ", "ok", "width (NFKC)"],
  ["cafe\u0301", "caf\u00e9", "composition"],
];

for (const [left, right, why] of SAME) {
  Deno.test(`texts are the same but for ${why}`, () => {
    assertEquals(normalText(left), normalText(right));
  });
}

Deno.test("punctuation inside a text, symbols and signs alone make a difference", () => {
  assertNotEquals(normalText("it costs 1.5"), normalText("it costs 15"));
  assertNotEquals(normalText("5 $"), normalText("5 €"));
  assertEquals(normalText(" ?! "), "?!");
  assertNotEquals(normalText("?"), normalText("!"));
  assertEquals(normalText(" \n"), "");
});

Deno.test("a text with a long row of punctuation is read once", () => {
  const row = ".".repeat(500_000); // reading the row again from each of its signs would take an hour
  assertEquals(normalText(`${row}A${row}b${row}`), `a${row}b`);
});

const SQUAD_CASES: [text: string, expected: string[], why: string][] = [
  ["The well-known, A.I.!", ["wellknown", "ai"], "punctuation goes before articles do"],
  ["an Ananas in the theatre", ["ananas", "in", "theatre"], "only whole words are articles"],
  ["éa aé", ["éa", "aé"], "a letter beyond ASCII is no edge of a word"],
  ["a\u00a0b\u0085c", ["b", "c"], "blanks are what Python takes for them"],
  ["“quoted”", ["“quoted”"], "only ASCII punctuation goes"],
  ["订单已经。 can't“", ["订单", "已经", "cant“"], "only the piece without spaces is cut"],
];

for (const [text, expected, why] of SQUAD_CASES) {
  Deno.test(`SQuAD tokens: ${why}`, () => assertEquals(squadTokens(text), expected));
}

const WORD_CASES: [text: string, expected: string[], why: string][] = [
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

for (const [text, expected, why] of WORD_CASES) {
  Deno.test(`words: ${why}`, () => assertEquals(words(text), expected));
}

const SAME_WITHOUT_WORDS: [reply: string, reference: string][] = [
  ["1.234,567", "1234.567"],
  ["0,125", "0.125"],
  ["1,250.50", "1250.5"],
  ["12,000", "12000"],
  ["12.00", "12"],
  ["10.050", "10.05"],
  ["Total: forty-six", "46"],
  ["Forty-two kilometres", "42"],
  ["Roughly a dozen metres tall", "12"],
];

for (const [reply, reference] of SAME_WITHOUT_WORDS) {
  Deno.test(`${reply} is the number ${reference}`, () => {
    assertEquals(compareWordless(reply, reference), 1);
  });
}

// Reading the rest again from each of their signs would take an hour.
const LONG: [what: string, number: string][] = [
  ["points", "1.".repeat(500_000) + "1"],
  ["commas", "1,".repeat(500_000) + "1"],
  ["zeros", `0.${"0".repeat(1_000_000)}1`],
];

for (const [what, number] of LONG) {
  Deno.test(`a number with a long row of ${what} is read once`, () => {
    assertEquals(compareWordless(number, "42"), 0);
    assertEquals(compareWordless(number, number), 1);
  });
}
