import { gzipSync } from "node:zlib";
import { neededBy } from "../shared/http/page_routes.ts";

const ROOT = new URL("../", import.meta.url);

/** The services with a page. */
export const PAGES = ["agent", "eval"] as const;
export type PageName = typeof PAGES[number];

/** The most that the browser loads for the page of one service, gzipped. */
export const BUDGET_BYTES = 60_000;
/** The most for the script and style of a report, which has all of its parts in one file. */
export const REPORT_BYTES = 80_000;

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
 * The files of a page: `app.json` with its scripts by name, minified, and the styles of
 * `shared/pages/` and of the page, in the order of their names. `app.js` is the script that the page
 * loads; what a view imports when it is first shown is in scripts of its own. Throws if the source
 * does not compile.
 */
export async function buildPage(name: PageName): Promise<BuiltFile[]> {
  const styles = [...stylesIn("shared/pages"), ...stylesIn(`${name}/pages`)];
  const scripts = await bundle(`${name}/pages/main.tsx`, { isSplit: true });
  return [
    {
      path: pathOf(`${name}/pages/bundle/app.json`),
      text: `${JSON.stringify(Object.fromEntries(scripts), null, 1)}\n`,
    },
    { path: pathOf(`${name}/pages/bundle/app.css`), text: minifyCss(styles.join("\n")) },
  ];
}

/** The script and the style of the report that `format=html` writes; see `eval/report/formats/html.ts`. */
export async function buildReport(): Promise<BuiltFile[]> {
  const styles = [
    ...stylesIn("shared/pages/styles"),
    ...stylesIn("eval/pages", ["bundle", "datasets", "runs"]),
  ];
  const [[, text] = ["", ""]] = await bundle("eval/pages/report/main.tsx", { isSplit: false });
  return [
    { path: pathOf("eval/report/formats/bundle/report.js"), text },
    { path: pathOf("eval/report/formats/bundle/report.css"), text: minifyCss(styles.join("\n")) },
  ];
}

/** The scripts of an entry by name, the entry itself as `app.js` first. */
async function bundle(
  entry: string,
  { isSplit }: { isSplit: boolean },
): Promise<[name: string, text: string][]> {
  const { errors, outputFiles = [] } = await Deno.bundle({
    entrypoints: [pathOf(entry)],
    platform: "browser",
    minify: true,
    write: false,
    codeSplitting: isSplit,
    // A report is one file: what its texts would load on demand is no part of it.
    ...(!isSplit && { external: ["*/highlight_code.ts", "*/render_formula.ts"] }),
    outputDir: pathOf("bundle"),
  });
  const main = outputFiles.find(({ path }) => path.endsWith("/main.js"));
  const others = outputFiles.filter((file) => file !== main);
  if (!main) throw new Error(`cannot build ${entry}:\n${errors.map(({ text }) => text)}`);
  const named = others.map((file): [string, string] => [
    file.path.split("/").at(-1)!,
    file.text(),
  ]);
  for (const [name, text] of named.concat([["app.js", main.text()]])) {
    const [, module] = /from"(node:\w+)"/.exec(text) ?? [];
    if (module) throw new Error(`cannot build ${entry}: a browser has no ${module} (in ${name})`);
  }
  return [["app.js", main.text()], ...named.toSorted(([a], [b]) => a < b ? -1 : 1)];
}

/** What the browser loads for these files before it shows a view; of scripts, what `app.js` needs. */
export function gzippedBytes(files: BuiltFile[]): number {
  return files
    .flatMap(({ path, text }) => path.endsWith(".json") ? firstScripts(JSON.parse(text)) : [text])
    .map((text) => gzipSync(text, { level: 9 }).length).reduce((a, b) => a + b, 0);
}

function firstScripts(scripts: Record<string, string>): string[] {
  return neededBy(scripts, "app.js").map((name) => scripts[name]!);
}

function pathOf(path: string): string {
  return new URL(path, ROOT).pathname;
}

/** The CSS files of a folder and the folders in it, by path. */
function stylesIn(folder: string, without = ["bundle"]): string[] {
  const entries = [...Deno.readDirSync(pathOf(folder))]
    .filter(({ name }) => !without.includes(name));
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
