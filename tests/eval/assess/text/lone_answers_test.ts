import { assertEquals } from "@std/assert";
import { compareAnswers } from "../../../../eval/assess/text/lone_answers.ts";

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
