import { type MarkedOptions, Tokenizer, type TokenizerExtensionFunction } from "marked";

/** In characters: the longest formula, and the longest text of a paragraph before one. */
const MOST = 2_000;
/** What Markdown takes as its own. Without it nothing is lost: `\(optional\)` is prose. */
const SIGNS = /[\\^_=*]/;
const END_OF_LINE = String.raw`[ \t]*(?:\n+|$)`;

const BRACKETS = createShape(String.raw` {0,3}\\\[`, {
  inside: String.raw`[^\\]|\\[^[\]]`,
  end: String.raw`\\\]${END_OF_LINE}`,
});
const DOLLARS = createShape(String.raw` {0,3}\$\$`, {
  inside: String.raw`[^\\$]|\\[^]|\$(?!\$)`,
  end: String.raw`\$\$${END_OF_LINE}`,
});
const PARENTHESES = createShape(String.raw`\\\(`, {
  inside: String.raw`[^\\]|\\[^()]`,
  end: String.raw`\\\)`,
});

/** The end of a paragraph's line: before what ends it anyway, or before what may be a formula. */
const BREAK = /\n(?:(?=[ \t]*\n| {0,3}(?:#{1,6} |>|```))|(?<formula>(?= {0,3}(?:\\\[|\$\$))))/g;

/**
 * Formulas in TeX, as models write them: `\[…\]` and `$$…$$` of their own lines, `\(…\)` in a
 * sentence. Their source is shown: read as Markdown, it loses its backslashes, and its lines may become
 * lists. `$…$` may be two prices, and stays Markdown.
 */
export const FORMULAS: NonNullable<MarkedOptions["extensions"]> = {
  renderers: {},
  childTokens: {},
  block: [
    formula(BRACKETS, (_raw, content) => content.trim()),
    formula(DOLLARS, (_raw, content) => content.trim()),
  ],
  inline: [formula(PARENTHESES, (raw) => raw)],
};

/**
 * Ends the text of a paragraph, or of a heading that is underlined, before a formula. (`startBlock`
 * of an extension does so only for paragraphs: the lines of a formula may underline the text, and
 * many formulas take quadratic time.)
 */
export class FormulaTokenizer extends Tokenizer {
  override lheading(source: string) {
    return super.lheading(beforeFormula(source));
  }

  override paragraph(source: string) {
    return super.paragraph(beforeFormula(source));
  }
}

/**
 * `inside` has no beginning of another formula: a text that only begins formulas is read once. Nor
 * has it an empty line.
 */
function createShape(start: string, { inside, end }: { inside: string; end: string }): RegExp {
  return new RegExp(String.raw`^${start}((?:(?!\n[ \t]*\n)(?:${inside})){1,${MOST}}?)${end}`);
}

function formula(
  shape: RegExp,
  show: (raw: string, content: string) => string,
): TokenizerExtensionFunction {
  return (source) => {
    const [raw = "", content = ""] = shape.exec(source) ?? [];
    return SIGNS.test(content) ? { type: "formula", raw, text: show(raw, content) } : undefined;
  };
}

function beforeFormula(source: string): string {
  for (const { index, groups } of source.slice(0, MOST).matchAll(BREAK)) {
    if (groups?.formula === undefined) break;
    const next = source.slice(index + 1);
    const content = (BRACKETS.exec(next) ?? DOLLARS.exec(next))?.[1] ?? "";
    if (SIGNS.test(content)) return source.slice(0, index + 1);
  }
  return source;
}
