import { Lexer, type Token, type Tokens } from "marked";
import { type ComponentChildren, Fragment, h } from "preact";
import { useMemo } from "preact/hooks";
import { directionOf } from "../text/direction.ts";
import { FORMULAS, FormulaTokenizer } from "../text/markdown_formulas.ts";
import { onDemand } from "../on_demand.ts";
import type { FormulaNode } from "../text/render_formula.ts";
import { CodeBlock } from "./code_block.tsx";

/** Quotes and lists inside each other, beyond which the source is shown as it is. */
const MAX_DEPTH = 24;

/**
 * A model's text as nodes. Nothing in it becomes HTML: tags stay text, except `<br>`, the only line
 * break in a table. Links go to the web only, and pictures are links, because the page loads nothing
 * from elsewhere.
 */
export function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => withLevels(withDefinitions(lex(text), text)), [text]);
  return <div class="prose" dir="auto">{tokens ? blocks(tokens, 0) : text}</div>;
}

/** `undefined` if the text is nested so deeply that the lexer gives up. */
function lex(text: string): Token[] | undefined {
  try {
    const tokenizer = new FormulaTokenizer();
    return new Lexer({ gfm: true, extensions: FORMULAS, tokenizer }).lex(text);
  } catch {
    return undefined;
  }
}

/**
 * Marks the definitions of links (`[1]: https://…`) to be shown as they are: those that no link of
 * the text needs, or that do not lead to the web. `[Name]: Ada` is one, too, and would vanish.
 */
function withDefinitions(tokens: Token[] | undefined, text: string): Token[] | undefined {
  const definitions = tokens?.filter(({ type }) => type === "def") ?? [];
  if (definitions.length === 0) return tokens;
  const counts = new Map<string, number>();
  for (const [, label] of text.matchAll(/\[([^[\]]+)\]/g)) {
    const tag = label!.toLowerCase().replaceAll(/\s+/g, " ");
    counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  for (const definition of definitions as Tokens.Generic[]) {
    const { tag, href } = definition;
    const uses = (counts.get(tag) ?? 0) - 1; // without the definition itself
    definition.isShown = uses <= 0 || !isWebAddress(href);
  }
  return tokens;
}

/** The first level of a text's headings: the page has its own first and second. */
const FIRST_LEVEL = 3;

/** Sets the depth of each heading to its level in the page: one step down at most, as readers expect. */
function withLevels(tokens: Token[] | undefined): Token[] | undefined {
  let last = FIRST_LEVEL - 1;
  const visit = (token: Token) => {
    if (token.type === "heading") {
      last = token.depth = Math.min(6, token.depth + FIRST_LEVEL - 1, last + 1);
    }
    for (const inner of innerBlocks(token)) visit(inner);
  };
  tokens?.forEach(visit);
  return tokens;
}

function innerBlocks(token: Token): Token[] {
  if (token.type === "list") return token.items;
  const holds = token.type === "blockquote" || token.type === "list_item";
  return holds ? token.tokens ?? [] : [];
}

function blocks(tokens: Token[], depth: number): ComponentChildren {
  return tokens.map((token, index) => <Block key={index} token={token} depth={depth} />);
}

function Block({ token, depth }: { token: Token; depth: number }): ComponentChildren {
  if (depth > MAX_DEPTH) return token.raw;
  const own = { dir: directionOf(token.raw) };
  switch (token.type) {
    case "space":
      return null;
    case "def":
      return (token as Tokens.Generic).isShown ? <p {...own}>{token.raw.trim()}</p> : null;
    case "heading": {
      const Heading = `h${token.depth}` as "h3";
      return <Heading {...own}>{inline(token.tokens ?? [], depth)}</Heading>;
    }
    case "code":
      return <CodeBlock text={token.text} language={token.lang ?? ""} />;
    case "formula":
      return <Formula tex={token.text} isBlock />;
    case "blockquote":
      return <blockquote {...own}>{blocks(token.tokens ?? [], depth + 1)}</blockquote>;
    case "list":
      return <List list={token as Tokens.List} depth={depth} />;
    case "table":
      return <Table table={token as Tokens.Table} depth={depth} />;
    case "hr":
      return <hr />;
    case "paragraph":
      return <p {...own}>{inline(token.tokens ?? [], depth)}</p>;
    case "text":
      return <>{token.tokens ? inline(token.tokens, depth) : decodeEntities(token.text)}</>;
    default:
      return <p {...own}>{token.raw.trim()}</p>; // HTML, as text
  }
}

function List({ list, depth }: { list: Tokens.List; depth: number }) {
  const items = list.items.map(({ task, checked, tokens, raw }, index) => (
    <li key={index} dir={directionOf(raw)}>
      {task && (checked ? "☑ " : "☐ ")}
      {blocks(
        tokens.filter(({ type }) =>
          type !== "checkbox"
        ),
        depth + 1,
      )}
    </li>
  ));
  const dir = directionOf(list.raw);
  return list.ordered
    ? <ol dir={dir} start={list.start === "" ? 1 : list.start}>{items}</ol>
    : <ul dir={dir}>{items}</ul>;
}

/** From here on, in characters, a cell is a text that has lines; a shorter one has words to keep. */
const LONG_CELL = 24;

function Table({ table: { header, rows }, depth }: { table: Tokens.Table; depth: number }) {
  const isLong = header.map((_, column) =>
    [header, ...rows].some((row) => (row[column]?.text.length ?? 0) > LONG_CELL)
  );
  const classOf = ({ align }: Tokens.TableCell, column: number) =>
    `${align === "right" ? "number" : align ?? ""} ${isLong[column] ? "long" : ""}`;
  return (
    <div class="table-frame" role="group" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {header.map((cell, index) => (
              <th key={index} scope="col" class={classOf(cell, index)}>
                {inline(cell.tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} class={classOf(cell, column)}>{inline(cell.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: Token[], depth: number): ComponentChildren {
  return tokens.map((token, index) => <Inline key={index} token={token} depth={depth} />);
}

function Inline({ token, depth }: { token: Token; depth: number }): ComponentChildren {
  if (depth > MAX_DEPTH) return token.raw;
  const inner = () => inline("tokens" in token ? token.tokens ?? [] : [], depth + 1);
  switch (token.type) {
    case "strong":
      return <strong>{inner()}</strong>;
    case "em":
      return <em>{inner()}</em>;
    case "del":
      return <del>{inner()}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "formula":
      return <Formula tex={token.text} isBlock={false} />;
    case "br":
      return <br />;
    case "link":
      return <WebLink href={token.href}>{inner()}</WebLink>;
    case "image":
      return <WebLink href={token.href}>{decodeEntities(token.text) || "picture"}</WebLink>;
    case "text":
      return <>{token.tokens ? inner() : decodeEntities(token.text)}</>;
    case "escape":
      return <>{token.text}</>;
    default:
      return isBreak(token) ? <br /> : <>{token.raw}</>; // HTML, as text
  }
}

function isBreak({ type, raw }: Token): boolean {
  return type === "html" && /^<br\s*\/?>$/i.test(raw);
}

const ENTITIES: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  mdash: "—",
  ndash: "–",
  hellip: "…",
};

/** Markdown allows HTML's character references; these are the ones that models write. */
export function decodeEntities(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi,
    (whole, ten, hex, name) => {
      if (name) return Object.hasOwn(ENTITIES, name) ? ENTITIES[name]! : whole;
      const code = ten ? Number(ten) : parseInt(hex, 16);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}

/** A link of a model's text, if it is one to the web; else only its text. */
function WebLink({ href, children }: { href: string; children: ComponentChildren }) {
  if (!isWebAddress(href)) return <>{children}</>;
  return <a href={href} target="_blank" rel="noopener noreferrer">{children}</a>;
}

function isWebAddress(href: string): boolean {
  return /^(https?|mailto):/i.test(URL.parse(href)?.protocol ?? "");
}

const renderer = onDemand(() => import("../text/render_formula.ts"));

/** A formula of TeX as MathML; its source until that is loaded, or if it cannot be read. */
function Formula({ tex, isBlock }: { tex: string; isBlock: boolean }) {
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
