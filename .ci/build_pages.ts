import { gzipSync } from "node:zlib";

const ROOT = new URL("../", import.meta.url);

/** The services with a page. */
export const PAGES = ["agent", "eval"] as const;
export type PageName = typeof PAGES[number];

/** The most that the browser loads for the page of one service, gzipped. */
export const BUDGET_BYTES = 60_000;

/** Folders whose files go into a page. */
export function sourceFolders(): string[] {
  return ["shared/pages", ...PAGES.map((name) => `${name}/pages`)].map(pathOf);
}

/** A generated file and its contents. */
export interface BuiltFile {
  path: string;
  text: string;
}

/**
 * The files of a page: the script with everything that it imports, minified, and the styles of
 * `shared/pages/` and of the page, in the order of their names. Throws if the source does not compile.
 */
export async function buildPage(name: PageName): Promise<BuiltFile[]> {
  const styles = [...stylesIn("shared/pages"), ...stylesIn(`${name}/pages`)];
  return [
    {
      path: pathOf(`${name}/pages/bundle/app.js`),
      text: await bundleScript(`${name}/pages/main.tsx`),
    },
    { path: pathOf(`${name}/pages/bundle/app.css`), text: minifyCss(styles.join("\n")) },
  ];
}

/** Scripts of the dashboard that are no part of its page; see `PageScript`. */
export const OTHER_SCRIPTS = ["docs", "prepare"] as const;

/** One of them. */
export async function buildScript(name: typeof OTHER_SCRIPTS[number]): Promise<BuiltFile[]> {
  return [{
    path: pathOf(`eval/pages/bundle/${name}.js`),
    text: await bundleScript(`eval/pages/${name}/main.tsx`),
  }];
}

/** The script and the style of the report that `format=html` writes; see `eval/export/formats/html.ts`. */
export async function buildReport(): Promise<BuiltFile[]> {
  const page = await buildPage("eval");
  return [
    {
      path: pathOf("eval/export/formats/bundle/report.js"),
      text: await bundleScript("eval/pages/report/main.tsx"),
    },
    { path: pathOf("eval/export/formats/bundle/report.css"), text: page[1]!.text },
  ];
}

async function bundleScript(entry: string): Promise<string> {
  const { errors, outputFiles = [] } = await Deno.bundle({
    entrypoints: [pathOf(entry)],
    platform: "browser",
    minify: true,
    write: false,
  });
  const script = outputFiles[0]?.text();
  if (script !== undefined) return script;
  throw new Error(`cannot build ${entry}:\n${errors.map(({ text }) => text)}`);
}

/** What the browser loads for these files. */
export function gzippedBytes(files: BuiltFile[]): number {
  return files.map(({ text }) => gzipSync(text, { level: 9 }).length).reduce((a, b) => a + b, 0);
}

function pathOf(path: string): string {
  return new URL(path, ROOT).pathname;
}

/** The CSS files of a folder and the folders in it, by path. */
function stylesIn(folder: string): string[] {
  const entries = [...Deno.readDirSync(pathOf(folder))].filter(({ name }) => name !== "bundle");
  return entries.toSorted((a, b) => a.name < b.name ? -1 : 1).flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    if (isDirectory) return stylesIn(path);
    return name.endsWith(".css") ? [Deno.readTextFileSync(pathOf(path))] : [];
  });
}

/** Our own styles have no comment and no run of blanks inside a string. */
function minifyCss(css: string): string {
  return css
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\s*([{};,])\s*/g, "$1")
    .replaceAll(/:\s+/g, ":")
    .replaceAll(";}", "}")
    .trim();
}
