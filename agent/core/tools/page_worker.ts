import { serveCalls, stoppable } from "../../../shared/service/serve_calls.ts";
import { convert } from "html-to-text";
import { shorten } from "../../../shared/service/text.ts";

/** `url` is the address after redirects; relative links are resolved with it. */
export interface FetchedPage {
  html: string;
  url: string;
}

const MAX_DEPTH = 200;
/** The text may be longer than the page: links are written in full. */
const MAX_CHARACTERS = 1_000_000;

/** The text of a page, without its layout. May throw, and may take long. */
export function htmlToText({ html, url }: FetchedPage): string {
  return shorten(convert(html, optionsFor(url)).trim(), MAX_CHARACTERS);
}

function optionsFor(baseUrl: string) {
  return {
    wordwrap: false,
    limits: { maxDepth: MAX_DEPTH },
    formatters: { cell: formatCell },
    selectors: [
      {
        selector: "a",
        options: { pathRewrite: (path: string) => URL.parse(path, baseUrl)?.href ?? path },
      },
      { selector: "img", format: "skip" },
      { selector: "nav", format: "skip" },
      { selector: "h1", options: { uppercase: false } },
      { selector: "h2", options: { uppercase: false } },
      { selector: "h3", options: { uppercase: false } },
      // Not `dataTable`: it makes a grid as wide as the page's `colspan` says, in quadratic time.
      { selector: "table", format: "block" },
      { selector: "tr", format: "block", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
      { selector: "td", format: "cell" },
      { selector: "th", format: "cell" },
    ],
  };
}

/** The used part of a node; the package has no types. */
interface PageNode {
  type: string;
  prev: PageNode | null;
  children: PageNode[];
}

interface TextBuilder {
  addInline(text: string): void;
}

/** Writes a cell into the line of its row. */
function formatCell(
  { prev, children }: PageNode,
  walk: (nodes: PageNode[], builder: TextBuilder) => void,
  builder: TextBuilder,
): void {
  let before = prev;
  while (before && before.type !== "tag") before = before.prev;
  if (before) builder.addInline(" | ");
  walk(children, builder);
}

serveCalls(stoppable(htmlToText));
