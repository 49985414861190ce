import { assertEquals } from "@std/assert";
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
