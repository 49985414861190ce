import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { ifNoneMatch } from "@std/http/etag";
import { accepts, acceptsEncodings } from "@std/http/negotiation";
import { notFound } from "../../errors.ts";
import type { Handler, Route } from "./router.ts";

/** The page of a service: its title, and the bundle that `deno task pages` builds. */
export interface Page {
  title: string;
  script: string;
  style: string;
  /** Scripts of addresses that are seldom asked for; the others load `script`. */
  others?: PageScript[];
}

/** A script of some addresses, so that the page's own stays small. */
export interface PageScript {
  /** What its asset is called, such as `docs`. */
  name: string;
  /** Where it is loaded: paths as routes have them, such as `/ui/dataset/:name`. */
  paths: Route["path"][];
  text: string;
}

/** What a page may do: only its own script and style, and requests to its own service. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "require-trusted-types-for 'script'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const ICON = "data:image/svg+xml," + encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4"' +
    ' fill="#4353c4"/><path d="M4.5 12 8 4l3.5 8M5.8 9.2h4.4" fill="none" stroke="#fff"' +
    ' stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"/></svg>',
);

/**
 * The routes of a page: `/ui/*` and `/docs` answer a shell, `/assets/*` what it loads. None of
 * them contains data, so none needs a key. They are not part of the API and its description.
 */
export function createPageRoutes(page: Page): Route[] {
  const others = page.others ?? [];
  const isElsewhere = (path: Route["path"]) => others.some(({ paths }) => paths.includes(path));
  const own = (["/ui/*", "/docs"] as const).filter((path) => !isElsewhere(path));
  const style = createAsset({ name: "app", type: "css", text: page.style });
  const scripts = [{ name: "app", paths: own, text: page.script }, ...others].map((script) => ({
    ...createAsset({ ...script, type: "js" }),
    paths: script.paths,
  }));
  const byPath = new Map([style, ...scripts].map((asset) => [asset.path, asset]));
  const ofPage = { method: "GET", needsKey: false, answers: {} } as const;
  return [
    ...scripts.flatMap((script) => {
      const handler = createShellHandler(page, { script, style });
      return script.paths.map((path) => ({ ...ofPage, path, summary: "The page", handler }));
    }),
    {
      ...ofPage,
      path: "/assets/*",
      summary: "What the page loads",
      handler(request, { url }) {
        const asset = byPath.get(url.pathname);
        if (asset) return serveAsset(asset, request);
        throw notFound(`cannot find ${url.pathname}: reload the page`);
      },
    },
  ];
}

/** `GET /` for browsers, which ask for HTML, before `index`, which answers programs as before. */
export function withPage(index: Route, pageRoutes: readonly Route[]): Route {
  const shell = pageRoutes.find(({ path }) => path === "/ui/*")!;
  return {
    ...index,
    needsKey: (request) => !wantsPage(request),
    async handler(request, context) {
      const { handler } = wantsPage(request) ? shell : index;
      const response = await handler(request, context);
      response.headers.append("vary", "accept");
      return response;
    },
  };
}

/** JSON if the caller has no preference. */
function wantsPage(request: Request): boolean {
  return accepts(request, "application/json", "text/html") === "text/html";
}

interface Asset {
  path: string;
  contentType: string;
  text: string;
  /** Compressed at the first request. */
  gzip?: Uint8Array<ArrayBuffer>;
}

const CONTENT_TYPES = { js: "text/javascript", css: "text/css" };

function createAsset(
  { name, type, text }: { name: string; type: keyof typeof CONTENT_TYPES; text: string },
): Asset {
  return {
    path: `/assets/${name}.${hash(text)}.${type}`,
    contentType: `${CONTENT_TYPES[type]}; charset=utf-8`,
    text,
  };
}

function serveAsset(asset: Asset, request: Request): Response {
  const isCompressed = acceptsEncodings(request, "identity", "gzip") === "gzip";
  if (isCompressed) asset.gzip ??= new Uint8Array(gzipSync(asset.text, { level: 9 }));
  return new Response(isCompressed ? asset.gzip : asset.text, {
    headers: {
      "content-type": asset.contentType,
      "cache-control": "public, max-age=31536000, immutable",
      ...(isCompressed && { "content-encoding": "gzip" }),
      vary: "accept-encoding",
    },
  });
}

/** The shell loads the bundle by its hash, so it must be asked for each time; most answers are 304. */
function createShellHandler(
  { title }: Page,
  { script, style }: { script: Asset; style: Asset },
): Handler {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${style.path}">
<script type="module" blocking="render" src="${script.path}"></script>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript. Programs use the API: see /openapi.json.</noscript>
</body>
</html>
`;
  const etag = `"${hash(html)}"`;
  const headers = { etag, "cache-control": "no-cache", "content-security-policy": PAGE_POLICY };
  return (request) => {
    const isFresh = !ifNoneMatch(request.headers.get("if-none-match"), etag);
    if (isFresh) return new Response(null, { status: 304, headers });
    return new Response(html, {
      headers: { ...headers, "content-type": "text/html; charset=utf-8" },
    });
  };
}

/** 16 hexadecimal digits of its SHA-256. */
function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
