import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { ifNoneMatch } from "@std/http/etag";
import { accepts, acceptsEncodings } from "@std/http/negotiation";
import { notFound } from "../service/errors.ts";
import type { Handler, Route } from "./router.ts";
import { loadApart } from "../service/waiting.ts";

/** The page of a service: its title, and the bundle that `deno task pages` builds. */
export interface Page {
  title: string;
  /** By file name; `app.js` is the one that the page loads first. */
  scripts: Record<string, string>;
  style: string;
}

/** A page that knows where both services are, for its examples. */
interface ServedPage extends Page {
  services: { agent: string; eval: string };
}

/** A script with all that it imports before it runs, by name; not what it imports on demand. */
export function neededBy(scripts: Record<string, string>, name: string): string[] {
  const found = new Set([name]);
  for (const one of found) {
    const statics = /(?:^|[;}\s])(?:import|export)\s*(?:[\w$*{][^"'()]*?from\s*)?"\.\/([^"]+)"/g;
    for (const [, needed] of scripts[one]!.matchAll(statics)) {
      if (needed !== undefined && Object.hasOwn(scripts, needed)) found.add(needed);
    }
  }
  return [...found];
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

/** The routes of a service with those of its page, and with the page at `GET /`. */
export function addPage(routes: readonly Route[], page: ServedPage): Route[] {
  const { shell, pageRoutes } = createPageRoutes(page);
  const isIndex = ({ method, path }: Route) => method === "GET" && path === "/";
  return [...routes.map((route) => isIndex(route) ? withPage(route, shell) : route), ...pageRoutes];
}

/**
 * The routes of a page: `/ui/*` and `/docs` answer a shell, `/assets/*` what it loads. None of
 * them contains data, so none needs a key. They are not part of the API and its description.
 */
function createPageRoutes(page: ServedPage): { shell: Handler; pageRoutes: Route[] } {
  const style = createAsset({ name: "app", type: "css", text: page.style });
  const { "app.js": main = "", ...others } = page.scripts;
  const script = createAsset({ name: "app", type: "js", text: main });
  // Their names contain a hash of their content, and scripts import each other by these names.
  const parts = Object.entries(others)
    .map(([name, text]) => ({ path: `/assets/${name}`, contentType: CONTENT_TYPES.js, text }));
  const needed = neededBy(page.scripts, "app.js").slice(1).map((name) => `/assets/${name}`);
  const byPath = new Map([style, script, ...parts].map((asset) => [asset.path, asset]));
  const shell = createShellHandler(page, { script, style, needed });
  const ofPage = { method: "GET", needsKey: false, answers: {} } as const;
  const pageRoutes: Route[] = [
    { ...ofPage, path: "/ui/*", summary: "The page", handler: shell },
    { ...ofPage, path: "/docs", summary: "The page", handler: shell },
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
  return { shell, pageRoutes };
}

/** `GET /` for browsers, which ask for HTML, before `index`, which answers programs as before. */
function withPage(index: Route, shell: Handler): Route {
  return {
    ...index,
    needsKey: (request) => !wantsPage(request),
    async handler(request, context) {
      const handler = wantsPage(request) ? shell : index.handler;
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

const CONTENT_TYPES = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" };

function createAsset(
  { name, type, text }: { name: string; type: keyof typeof CONTENT_TYPES; text: string },
): Asset {
  return {
    path: `/assets/${name}.${hash(text)}.${type}`,
    contentType: CONTENT_TYPES[type],
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
  { title, services }: ServedPage,
  { script, style, needed }: { script: Asset; style: Asset; needed: string[] },
): Handler {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<meta name="assay-agent" content="${services.agent}">
<meta name="assay-eval" content="${services.eval}">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${style.path}">
${
    needed.map((path) => `<link rel="modulepreload" href="${path}">\n`).join("")
  }<script type="module" blocking="render" src="${script.path}"></script>
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

/** The documents of a service as Markdown, by their names in `docs/`. Loaded when they are asked for. */
export type Documents = Record<string, () => Promise<{ default: string }>>;

/**
 * `GET /llms.txt`, which lists the documents for models, and the documents themselves. None contains
 * data, so none needs a key. They are not part of the API and its description.
 */
export function createDocumentRoutes(
  { name, description }: { name: string; description: string },
  documents: Documents,
): Route[] {
  const ofDocuments = { method: "GET", needsKey: false, answers: {} } as const;
  const read = async (name: string) => (await loadApart(documents[name]!)).default;

  async function list(): Promise<string> {
    const lines = Object.keys(documents).map(async (name) => {
      const [, title = name] = /^# (.*)$/m.exec(await read(name)) ?? [];
      return `- [${title}](/docs/${name}.md)`;
    });
    const listed = (await Promise.all(lines)).join("\n");
    return `# ${name}\n\n> ${description}\n\n## Documents\n\n${listed}\n` +
      "- [OpenAPI description](/openapi.json)\n";
  }

  return [
    {
      ...ofDocuments,
      path: "/llms.txt",
      summary: "The documents, for models",
      handler: async () => asMarkdown(await list()),
    },
    {
      ...ofDocuments,
      path: "/docs/:name",
      summary: "A document",
      async handler(_request, { params }) {
        const [, name = ""] = /^(.*)\.md$/.exec(params.name!) ?? [];
        if (!Object.hasOwn(documents, name)) {
          throw notFound("there is no such document; see /llms.txt");
        }
        return asMarkdown(await read(name));
      },
    },
  ];
}

const asMarkdown = (text: string) =>
  new Response(text, { headers: { "content-type": "text/markdown; charset=utf-8" } });
