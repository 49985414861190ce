import { ToolError } from "../tool.ts";
import type { PageConverter } from "./page_converter.ts";

const MAX_BYTES = 1_000_000;
/** The converter's time grows with the square of the tags; usual pages have a few thousand. */
const MAX_TAGS = 20_000;
const TEXT_TYPES = /^(text\/.*|application\/(json|xml|xhtml\+xml|javascript|[\w.-]+\+(json|xml)))$/;

interface ReadPageOptions {
  /** The address after redirects; relative links are resolved with it. */
  url: string;
  converter: PageConverter;
  signal: AbortSignal;
}

/** The text of a page, cut at one megabyte. Throws a `ToolError` if it is not text. */
export async function readPage(response: Response, options: ReadPageOptions): Promise<string> {
  const { url, converter, signal } = options;
  const { type, charset } = parseContentType(response.headers.get("content-type"));
  try {
    requireText(response, type);
    const { bytes, isWhole } = await readBytes(response);
    const text = decode(bytes, charset);
    const note = isWhole ? "" : `\n\n(Cut here: the page is longer than ${MAX_BYTES} bytes.)`;
    if (!/html/.test(type)) return text.trim() + note;
    const end = findTag(text, MAX_TAGS);
    if (end < 0) return await converter.convert({ html: text, url }, signal) + note;
    const read = await converter.convert({ html: text.slice(0, end), url }, signal);
    return `${read}\n\n(Cut here: the page has more than ${MAX_TAGS} tags.)`;
  } finally {
    await response.body?.cancel().catch(() => {});
  }
}

function requireText({ ok, status, headers }: Response, type: string): void {
  if (!ok) throw new ToolError(`cannot read the page: the server answered with status ${status}`);
  if (!TEXT_TYPES.test(type)) {
    throw new ToolError(`cannot read the page: ${type || "content without a type"} is not text`);
  }
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding !== "identity") {
    throw new ToolError(`cannot read the page: the content encoding ${encoding} is not supported`);
  }
}

/** Counts the decoded bytes, so that a small page cannot become a large one. */
async function readBytes(
  response: Response,
): Promise<{ bytes: Uint8Array; isWhole: boolean }> {
  const body = response.body ?? new Blob().stream();
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
  const charset = parameters.map((item) => /^\s*charset=["']?([\w-]+)/.exec(item)?.[1]).find(
    Boolean,
  );
  return { type: type.trim(), charset };
}

/** Where a page names its charset itself: HTML, then XML. */
const NAMED_CHARSET = /<meta[^>]+charset=["']?([\w-]+)|^<\?xml[^>]+encoding=["']([\w-]+)/i;

/**
 * The charset comes from the byte order mark, the header or the page's first bytes, as in a browser;
 * the default is UTF-8.
 */
function decode(bytes: Uint8Array, charset: string | undefined): string {
  const named = marked(bytes) ?? charset ?? namedWithin(bytes) ?? "utf-8";
  try {
    return new TextDecoder(named).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // an unknown charset
  }
}

/** The charset that a byte order mark stands for. */
function marked([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/** A page whose name of a charset can be read byte by byte is not in UTF-16, whatever it says. */
function namedWithin(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 1024));
  const [, html, xml] = NAMED_CHARSET.exec(head) ?? [];
  const named = html ?? xml;
  return named && !/^utf-?16/i.test(named) ? named : undefined;
}

/** The position of the tag after the first `count` tags; -1 if there is none. */
function findTag(html: string, count: number): number {
  let at = -1;
  for (let seen = 0; seen <= count; seen++) {
    at = html.indexOf("<", at + 1);
    if (at < 0) return -1;
  }
  return at;
}
