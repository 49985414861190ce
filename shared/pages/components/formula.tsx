import { type ComponentChildren, Fragment, h } from "preact";
import { onDemand } from "../on_demand.ts";
import type { FormulaNode } from "../render_formula.ts";

const renderer = onDemand(() => import("../render_formula.ts"));

/** A formula of TeX as MathML; its source until that is loaded, or if it cannot be read. */
export function Formula({ tex, isBlock }: { tex: string; isBlock: boolean }) {
  const source = tex.replace(/^\\[([]|\\[)\]]$/g, "");
  const tree = renderer()?.renderFormula(source, isBlock);
  if (!tree) return isBlock ? <pre tabIndex={0}><code>{tex}</code></pre> : <code>{tex}</code>;
  const formula = toNode(tree, 0);
  return isBlock ? <div class="formula" tabIndex={0}>{formula}</div> : <>{formula}</>;
}

/** What MathML is made of. Nothing else becomes an element, whatever a text says. */
const ELEMENT = /^(math|semantics|m[a-z]+)$/;

function toNode(
  { type, attributes, classes = [], style, children = [], text }: FormulaNode,
  index: number,
): ComponentChildren {
  if (text !== undefined) return text;
  const inner = children.map(toNode);
  if (!type || !ELEMENT.test(type)) return h(Fragment, { key: index }, inner);
  const { href: _, style: __, ...plain } = attributes ?? {};
  return h(type, { key: index, ...plain, class: classes.join(" ") || undefined, style }, inner);
}
