import { assertEquals } from "@std/assert";
import { compareAnswers } from "../../../../eval/assess/text/lone_answers.ts";
import { compareWordless } from "../../../../eval/assess/text/wordless.ts";

const CASES: [reference: string, reply: string, expected: 0 | 1][] = [
  ["42", "42 plus 8 is 50. The answer is 50.", 0],
  ["50", "42 plus 8 is 50. The answer is 50.", 1],
  ["42", "40, 41, 42, 43", 0],
  ["43", "40, 41, 42, 43", 0],
  ["42", "It is not 42.", 0],
  ["42", "It isn't 42.", 0],
  ["42", "The answer is 50, not 42.", 0],
  ["42", "The answer is 42, not 50.", 1],
  ["42", "42 million", 0],
  ["42,000,000", "42 million", 1],
  ["42000", "It costs $42k.", 1],
  ["42", "It is 42 or 43.", 0],
  ["42", "Between 40 and 42.", 0],
  ["42", "Somewhere in 40-42.", 0],
  ["42", "So she has 42 apples left after 3 days.", 1],
  ["42", "First 6 boxes, then 7 in each: 6 × 7 = 42 apples.", 1],
  ["42", "6 * 7 = <<6*7=42>>42 apples\n#### 42", 1],
  ["42", "**Answer:** 42", 1],
  ["42", "The final answer is:\n\n$$\\boxed{42}$$", 1],
  ["42", "The final answer is:\n\n$$\\boxed{43}$$ (42 was close.)", 0],
  ["0.75", "\\boxed{\\frac{3}{4}}", 1],
  ["42", "Of the 100 tickets, **42** were sold in 3 days.", 1],
  ["42", "Die Antwort ist 42.", 1],
  ["42", "答案是 42。", 1],
  ["-42", "The result is -42.", 1],
  ["42", "The result is -42.", 0],
  ["-42", "x = −42", 1],
  ["$42", "It costs €42.", 0],
  ["42%", "It costs $42.", 0],
  ["$0.42", "42 cents", 1],
  ["42", "The fourth of 42nd street.", 0],
  ["B", "Not B.", 0],
  ["B", "The answer is not B.", 0],
  ["B", "B is wrong. The answer is C.", 0],
  ["C", "B is wrong. The answer is C.", 1],
  ["B", "I first thought the answer is A, but the answer is B.", 1],
  ["B", "A, B, C, D", 0],
  ["C", "Neither A nor B, so C.", 1],
  ["B", "\\boxed{B}", 1],
];

for (const [reference, reply, expected] of CASES) {
  Deno.test(`the final answer counts: "${reply.replaceAll("\n", " ")}" for ${reference} ${expected ? "passes" : "does not"}`, () => {
    assertEquals(compareWordless(reply, reference) >= 0.7 ? 1 : 0, expected);
  });
}

const ANSWERS: [reference: string, reply: string, expected: 0 | 1 | undefined][] = [
  ["Yes", "No", 0],
  ["Yes", "Yes, you can return it within 30 days.", 1],
  ["yes", "**Yes** - it is included.", 1],
  ["No", "No, this is not possible.", 1],
  ["No", "My answer is: no.", 1],
  ["No", "Yes, of course.", 0],
  ["Yes", "Absolutely! We ship worldwide.", 1],
  ["No", "Unfortunately not. It is sold out.", 1],
  ["Yes", "Absolutely not.", 0],
  ["Yes", "Of course! Here it is.", 1],
  ["No", "Sorry, no.", 1],
  ["Nein", "Nein, das geht leider nicht.", 1],
  ["Nein", "Ja, das geht.", 0],
  ["はい", "はい、可能です。", 1],
  ["いいえ", "残念ながら、いいえ。", 1],
  ["可以", "当然可以。", 1],
  ["No", "Purtroppo no.", 1],
  ["Sì", "Certo che no.", 0],
  ["Sim", "Claro que sim!", 1],
  ["Nee", "Helaas niet.", 1],
  ["Ja", "Zeker niet.", 0],
  ["Nee", "Het antwoord is nee.", 1],
  ["Nie", "Niestety nie.", 1],
  ["Tak", "Oczywiście, że nie.", 0],
  ["Nej", "Tyvärr inte.", 1],
  ["Ja", "Självklart!", 1],
  ["Non", "Bien sûr que non !", 1],
  ["Sí", "Por supuesto.", 1],
  ["Нет", "К сожалению, нет.", 1],
  ["No", "Of course! The answer is no.", 1],
  ["No", "Unfortunately not. If you are a member, the answer is yes.", 1],
  ["No", "Certo! La risposta è no.", 1],
  ["Нет", "Конечно! Ответ: нет.", 1],
  ["不", "当然。答案是不。", 1],
  ["Yes", "Well, it depends.", undefined],
  ["Sì", "La Certosa.", undefined],
  ["True", "The statement is true.", 1],
  ["True", "That is not true.", 0],
  ["False", "That isn't true.", 1],
  ["No", "I’m afraid not.", 1],
  ["No", "Answer: **No**", 1],
  ["Yes", "You can return it.", undefined],
  ["Yes", "I cannot answer yes or no.", undefined],
  ["No", "The answer is no longer available.", undefined],
  ["True", "It may be true or false.", undefined],
  ["Si", "The symbol of silicon is Si.", undefined],
  ["Yes", "Yes and no.", undefined],
  ["You can.", "Yes.", undefined],
];

for (const [reference, reply, expected] of ANSWERS) {
  const found = expected === undefined ? "no answer to compare" : expected;
  Deno.test(`yes and no: ${reply} for ${reference} is ${found}`, () => {
    assertEquals(compareAnswers(reply, reference), expected);
  });
}
