import { ToolError } from "../tool.ts";

const MAX_BYTES = 1_000_000;
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
    return (/html/.test(type) ? await htmlToText(text, url) : text.trim()) + note;
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

async function htmlToText(html: string, baseUrl: string): Promise<string> {
  const { convert } = await import("html-to-text"); // only for those who read pages
  return convert(html, {
    wordwrap: false,
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
      { selector: "table", format: "dataTable", options: { uppercaseHeaderCells: false } },
    ],
  }).trim();
}
