// deno-lint-ignore-file no-console -- a script speaks to its terminal
/**
 * `deno task pages`: builds the pages of both services into their `bundle/` folders. `--check`
 * compares instead, and `--watch` builds again at each change.
 */
import {
  BUDGET_BYTES,
  buildPage,
  buildReport,
  type BuiltFile,
  gzippedBytes,
  type PageName,
  PAGES,
  REPORT_BYTES,
  sourceFolders,
} from "./build_pages.ts";

const [mode] = Deno.args;

/** Names of scripts have hashes in which the path of the checkout counts, and so has their order. */
function comparable(text: string): string {
  return text.replaceAll(/-[A-Z0-9]{8}\.js/g, "-.js").split("\n").toSorted().join("\n")
    .replaceAll(/,$/gm, "");
}

function isUpToDate({ path, text }: BuiltFile): boolean {
  try {
    return comparable(Deno.readTextFileSync(path)) === comparable(text);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** True if the page is as it should be; says what is wrong. */
async function handle(name: PageName): Promise<boolean> {
  const files = await buildPage(name);
  return store(`the page of ${name}`, files);
}

/** Compares or writes generated files, if they are within the budget. */
function store(what: string, files: BuiltFile[], most = BUDGET_BYTES): boolean {
  const bytes = gzippedBytes(files);
  if (bytes > most) {
    console.error(`${what} has ${bytes} bytes gzipped; at most ${most}`);
    if (mode !== "--watch") return false;
  }
  const stale = files.filter((file) => !isUpToDate(file));
  if (mode === "--check") {
    for (const { path } of stale) console.error(`${path} is out of date: run deno task pages`);
    return stale.length === 0;
  }
  for (const { path, text } of stale) {
    Deno.mkdirSync(new URL(".", `file://${path}`), { recursive: true });
    Deno.writeTextFileSync(path, text);
  }
  if (stale.length > 0) console.log(`built ${what}: ${bytes} bytes gzipped`);
  return true;
}

async function handleAll(): Promise<boolean> {
  let isGood = true;
  for (const name of PAGES) isGood = await handle(name) && isGood;
  isGood = store("the report", await buildReport(), REPORT_BYTES) && isGood;
  return isGood;
}

/** Builds at each change of a source file; many changes at once are built once. */
async function watch(): Promise<never> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const rebuild = () => handleAll().catch((error) => console.error(error.message));
  for await (const { paths } of Deno.watchFs(sourceFolders())) {
    if (paths.every((path) => path.includes("/bundle/"))) continue;
    clearTimeout(timer);
    timer = setTimeout(rebuild, 100);
  }
  throw new Error("the folders of the pages are gone");
}

if (!await handleAll() && mode !== "--watch") Deno.exit(1);
if (mode === "--watch") await watch();
