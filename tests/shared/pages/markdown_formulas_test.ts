import { assertEquals } from "@std/assert";
import { Lexer, type Token } from "marked";
import { FORMULAS, FormulaTokenizer } from "../../../shared/pages/text/markdown_formulas.ts";

function lex(text: string): Token[] {
  return new Lexer({ extensions: FORMULAS, tokenizer: new FormulaTokenizer() }).lex(text);
}

/** The blocks of a text, each with its source, or with what is shown of a formula. */
function blocksOf(text: string): string[] {
  return lex(text).filter(({ type }) => type !== "space").map((token) =>
    `${token.type}: ${token.type === "formula" ? token.text : token.raw.trim()}`
  );
}

/** The types of what a sentence is made of. */
function partsOf(text: string): string {
  const [paragraph] = lex(text);
  const tokens = (paragraph as { tokens: Token[] }).tokens;
  return tokens.map(({ type, raw }) => type === "formula" ? `formula ${raw}` : type).join(", ");
}

Deno.test("a formula is found directly below a line of text and above one", () => {
  for (const [open, close] of [["\\[", "\\]"], ["$$", "$$"]]) {
    const formula = "x = \\{a\\} \\\\[2pt]\n- c\n=\nd";
    assertEquals(blocksOf(`We get:\n${open}\n${formula}\n${close}\nfor all a`), [
      "paragraph: We get:",
      `formula: ${formula}`,
      "paragraph: for all a",
    ]);
  }
});

Deno.test("a formula in a sentence keeps its signs, and escaped parentheses of prose stay prose", () => {
  assertEquals(partsOf(String.raw`With \(x_1 \* y\)`), String.raw`text, formula \(x_1 \* y\)`);
  assertEquals(partsOf(String.raw`Call it \(optional\)`), "text, escape, text, escape");
});

Deno.test("what is no whole formula of its own lines stays Markdown", () => {
  const texts = [
    String.raw`\[TODO\]`,
    "We get\n\\[\nx = 1",
    String.raw`\[a_1\] and \[b_1\] are two`,
    "$$ a_1 $$ is one",
  ];
  for (const text of texts) assertEquals(blocksOf(text), [`paragraph: ${text}`]);
  assertEquals(blocksOf("\\[ x = 1\n\n2 \\]"), ["paragraph: \\[ x = 1", "paragraph: 2 \\]"]);
});

Deno.test("a text that begins a formula again and again is read from its last beginning", () => {
  assertEquals(partsOf(String.raw`\(a \(b_1\)`), String.raw`escape, text, formula \(b_1\)`);
  assertEquals(blocksOf("\\[ a = 1\n\\[ b = 2 \\]"), ["paragraph: \\[ a = 1", "formula: b = 2"]);
});
