import temml from "temml";

/** A node of a formula in MathML, a text in it, or nodes beside each other. */
export interface FormulaNode {
  type?: string;
  attributes?: Record<string, string>;
  classes?: string[];
  style?: Record<string, string>;
  children?: FormulaNode[];
  text?: string;
}

/** The package's types name it without the underscores. */
const { __renderToMathMLTree: toTree } = temml as unknown as {
  __renderToMathMLTree(tex: string, options: Record<string, unknown>): FormulaNode;
};

/** A formula of TeX as a tree of MathML; `undefined` if it cannot be read. */
export function renderFormula(tex: string, isBlock: boolean): FormulaNode | undefined {
  try {
    return toTree(tex, { displayMode: isBlock, trust: false, throwOnError: true, maxExpand: 200 });
  } catch {
    return undefined;
  }
}
