import { assert, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { bleu } from "../../../../eval/assess/scores/lexical/bleu.ts";
import { chrf } from "../../../../eval/assess/scores/lexical/chrf.ts";
import { editSimilarity } from "../../../../eval/assess/scores/lexical/edit_similarity.ts";
import { pairScorers } from "../../../../eval/assess/scores/pair_scorers.ts";
import { rouge1, rouge2, rougeL } from "../../../../eval/assess/scores/lexical/rouge.ts";
import { words } from "../../../../eval/assess/text/words.ts";
import { anyCharacter } from "../../../fakes/any_character.ts";

/** A sentence a script, so that pairs share words and not only characters. */
const SENTENCES = [
  "Your order was shipped on Monday.",
  "Ваш заказ уже в пути",
  "Η παραγγελία σας είναι καθ' οδόν",
  "שכרא לך ההזמנה בדרך",
  "شكرا لك، طلبك في الطريق",
  "आपका ऑर्डर भेज दिया गया है",
  "আপনার অর্ডার পাঠানো হয়েছে",
  "உங்கள் ஆர்டர் அனுப்பப்பட்டது",
  "您的订单已经发货。",
  "ご注文の商品は発送済みです。",
  "주문하신 상품이 발송되었습니다.",
  "สินค้าของคุณถูกจัดส่งแล้ว",
  "ຄໍາສັ່ງຊື້ຂອງທ່ານ",
  "ការបញ្ជាទិញរបស់អ្នក",
  "သင့်အော်ဒါကို ပို့ပြီးပါပြီ",
  "ትዕዛዝዎ ተልኳል",
  "ձեր պատվերը ուղարկված է",
  "თქვენი შეკვეთა გაიგზავნა",
  "བཀའ་འཛིན་བཏང་ཟིན།",
  "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ",
  "👨‍👩‍👧 👍🏽 🇩🇪",
  "\ud800 half \udfff pair",
  "\0 \ufeff \u202e",
];

/** Any code units at all, lone surrogates included; whole Unicode; and words of every script. */
const text = fc.oneof(
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
    .map((units) => String.fromCharCode(...units)),
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.array(fc.constantFrom(...SENTENCES), { maxLength: 4 }).map((parts) => parts.join(" ")),
);

/** Words only in part the same: the reply repeats pieces of the reference. */
const pair = fc.oneof(
  fc.tuple(text, text),
  fc.tuple(text, text, text).map(([a, b, c]): [string, string] => [`${a} ${b}`, `${b} ${c}`]),
);

for (const { name, compare: score } of pairScorers) {
  Deno.test(`${name} lies between 0 and 1 for any two texts`, () => {
    fc.assert(fc.property(pair, ([reply, reference]) => {
      const value = score(reply, reference);
      assert(value !== null && value >= 0 && value <= 1, `${value}`);
    }));
  });

  Deno.test(`${name} of a text with itself is 1`, () => {
    fc.assert(fc.property(text, (same) => {
      // One word has no pair of words: 0, as in the reference implementation.
      if (name === "rouge_2") fc.pre(words(same).length !== 1);
      assertEquals(score(same, same), 1);
    }));
  });

  Deno.test(`${name} of two empty texts is 1, and 0 if only one is empty`, () => {
    assertEquals([score("", ""), score("", "a b"), score("a b", "")], [1, 0, 0]);
  });

  Deno.test(`${name} takes texts of 1 MB`, () => {
    const long = "Grüße 您的订单 order ".repeat(20_000).slice(0, 500_000) + "x".repeat(500_000);
    const value = score(long, `${long} and one more`);
    if (name === "edit_similarity") assertEquals(value, null);
    else assert(value !== null && value >= 0 && value <= 1);
  });
}

for (
  const name of ["exact_match", "token_f1", "rouge_1", "rouge_2", "rouge_l", "edit_similarity"]
) {
  Deno.test(`${name} is symmetric`, () => {
    const score = pairScorers.find((scorer) => scorer.name === name)!.compare;
    fc.assert(fc.property(pair, ([reply, reference]) => {
      const [there, back] = [score(reply, reference), score(reference, reply)];
      assert(Math.abs(there! - back!) < 1e-12, `${there} and ${back}`);
    }));
  });
}

for (const sentence of SENTENCES.slice(0, 20)) {
  Deno.test(`a script is not lost: "${sentence}" has words, and half of it scores between`, () => {
    assert(words(sentence).length > 1);
    const half = [...sentence].slice(0, Math.ceil(sentence.length / 2)).join("");
    const value = rouge1(`${sentence} ${half}`, sentence);
    assert(value > 0 && value < 1, `${value}`);
  });
}

Deno.test("edit_similarity counts code points, not code units", () => {
  assertEquals(editSimilarity("👍", "👎"), 0);
  assertEquals(editSimilarity("a👍", "a👎"), 0.5);
  assertEquals(editSimilarity("cafe\u0301", "café"), 1);
});

/** The textbook table over code points: slow, and beyond doubt. */
function tableDistance(left: string[], right: string[]): number {
  let above = [0, ...right.map((_, j) => j + 1)];
  left.forEach((character, i) => {
    const row = [i + 1];
    right.forEach((other, j) =>
      row.push(Math.min(above[j]! + (character === other ? 0 : 1), above[j + 1]! + 1, row[j]! + 1))
    );
    above = row;
  });
  return above[right.length]!;
}

Deno.test("edit_similarity is the textbook's, with and without characters of two code units", () => {
  fc.assert(fc.property(pair, ([reply, reference]) => {
    fc.pre(reply !== "" && reference !== "");
    const [left, right] = [reply, reference].map((text) => Array.from(text.normalize("NFC")));
    const expected = 1 - tableDistance(left!, right!) / Math.max(left!.length, right!.length);
    assertEquals(editSimilarity(reply, reference), expected);
  }));
});

Deno.test("edit_similarity has no value above 80,000 characters", () => {
  const [longest, longer] = ["a ".repeat(40_000), "的".repeat(80_001)];
  assertEquals(editSimilarity(longest, longest), 1);
  assertEquals([editSimilarity(longer, "的"), editSimilarity("的", longer)], [null, null]);
});

Deno.test("texts without a word are compared as they are", () => {
  for (const score of [rouge1, rouge2, rougeL]) {
    assertEquals([score("...", "..."), score(" ", "\n"), score("...", "?")], [1, 1, 0]);
  }
  assertEquals([bleu(" ", "\n"), chrf(" ", "\n")], [1, 1]);
});
