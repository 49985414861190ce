import type { MarkedOptions, TokenizerExtensionFunction } from "marked";

/** Ends at an empty line: what began there was no formula. */
const CONTENT = String.raw`((?:(?!\n[ \t]*\n)[\s\S])+?)`;
const END_OF_LINE = String.raw`[ \t]*(?:\n+|$)`;

/**
 * Formulas in TeX, as models write them: `\[…\]` and `$$…$$` of their own lines, `\(…\)` in a
 * sentence. Their source is shown: read as Markdown, it loses its backslashes, and its lines may become
 * lists. `$…$` may be two prices, and stays Markdown.
 */
export const FORMULAS: NonNullable<MarkedOptions["extensions"]> = {
  renderers: {},
  childTokens: {},
  block: [
    formula(String.raw`^ {0,3}\\\[${CONTENT}\\\]${END_OF_LINE}`),
    formula(String.raw`^ {0,3}\$\$${CONTENT}\$\$${END_OF_LINE}`),
  ],
  inline: [formula(String.raw`^\\\(${CONTENT}\\\)`)],
};

function formula(pattern: string): TokenizerExtensionFunction {
  const shape = new RegExp(pattern);
  return (source) => {
    const found = shape.exec(source);
    return found ? { type: "formula", raw: found[0], text: found[1]!.trim() } : undefined;
  };
}
