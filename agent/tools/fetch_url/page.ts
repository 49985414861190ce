import { ToolError } from "../tool.ts";

const MAX_BYTES = 1_000_000;
/** The converter's time grows with the square of these; usual pages have some thousands. */
const MAX_TAGS = 20_000;
const MAX_DEPTH = 200;
const TEXT_TYPES = /^(text\/.*|application\/(json|xml|xhtml\+xml|javascript|[\w.-]+\+(json|xml)))$/;

/**
 * The text of a page, of at most a megabyte. Throws a `ToolError` where it is no text. `url` is
 * where the page was found, for the links in it.
 */
export async function readPage(response: Response, url: string): Promise<string> {
  const { type, charset } = parseContentType(response.headers.get("content-type"));
  try {
    requireText(response, type);
    const { bytes, isWhole } = await readBytes(response);
    const text = decode(bytes, charset);
    const note = isWhole ? "" : `\n\n(Cut here: the page is longer than ${MAX_BYTES} bytes.)`;
    if (!/html/.test(type)) return text.trim() + note;
    const end = findTag(text, MAX_TAGS);
    if (end < 0) return await htmlToText(text, url) + note;
    const read = await htmlToText(text.slice(0, end), url);
    return `${read}\n\n(Cut here: the page has more than ${MAX_TAGS} tags.)`;
  } finally {
    await response.body?.cancel().catch(() => {});
  }
}

function requireText({ ok, status, headers }: Response, type: string): void {
  if (!ok) throw new ToolError(`cannot read the page: it answered status ${status}`);
  if (!TEXT_TYPES.test(type)) {
    throw new ToolError(`cannot read the page: ${type || "content of no type"} is not text`);
  }
  const encoding = headers.get("content-encoding") ?? "identity";
  if (!["identity", "gzip", "deflate"].includes(encoding)) {
    throw new ToolError(`cannot read the page: it came in the encoding ${encoding}`);
  }
}

/** Counts what is unpacked, so that a small page cannot become a large one. */
async function readBytes(
  response: Response,
): Promise<{ bytes: Uint8Array; isWhole: boolean }> {
  const encoding = response.headers.get("content-encoding");
  const packed = response.body ?? new Blob().stream();
  const body = encoding === "gzip" || encoding === "deflate"
    ? packed.pipeThrough(new DecompressionStream(encoding))
    : packed;
  const kept = new Uint8Array(MAX_BYTES);
  let length = 0;
  for await (const chunk of body) {
    const room = MAX_BYTES - length;
    kept.set(chunk.subarray(0, room), length);
    length += Math.min(chunk.length, room);
    if (chunk.length > room) return { bytes: kept.subarray(0, length), isWhole: false };
  }
  return { bytes: kept.subarray(0, length), isWhole: true };
}

function parseContentType(header: string | null): { type: string; charset: string | undefined } {
  const [type = "", ...parameters] = (header ?? "").toLowerCase().split(";");
  const charset = parameters.map((item) => /^\s*charset="?([\w-]+)"?/.exec(item)?.[1]).find(
    Boolean,
  );
  return { type: type.trim(), charset };
}

/** By the header, by the page's own word in its first bytes, or as UTF-8. */
function decode(bytes: Uint8Array, charset: string | undefined): string {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 1024));
  const named = charset ?? /<meta[^>]+charset=["']?([\w-]+)/i.exec(head)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(named).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // a charset that nobody knows
  }
}

/** Where the tag after the first `count` begins; -1 where there is none. */
function findTag(html: string, count: number): number {
  let at = -1;
  for (let seen = 0; seen <= count; seen++) {
    at = html.indexOf("<", at + 1);
    if (at < 0) return -1;
  }
  return at;
}

async function htmlToText(html: string, baseUrl: string): Promise<string> {
  const { convert } = await import("html-to-text"); // only for those who read pages
  try {
    return convert(html, optionsFor(baseUrl)).trim();
  } catch {
    // It trips over some pages, such as one with a list that begins at a huge Roman number.
    throw new ToolError("cannot read the page: its HTML cannot be turned into text");
  }
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
      // Not as `dataTable`: it draws a grid as wide as a page's `colspan` says, in quadratic time.
      { selector: "table", format: "block" },
      { selector: "tr", format: "block", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
      { selector: "td", format: "cell" },
      { selector: "th", format: "cell" },
    ],
  };
}

/** As far as we look at a node; the package comes without types. */
interface PageNode {
  type: string;
  prev: PageNode | null;
  children: PageNode[];
}

interface TextBuilder {
  addInline(text: string): void;
}

/** A cell within the line of its row. */
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
