// deno-lint-ignore-file no-console -- a script speaks to its terminal
/** `deno task compile [--target TRIPLE]`: both services as self-contained binaries in `dist/`. */
import { cpSync, globSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { PIECES, WEIGHTS } from "../eval/score/embeddings/bert/weights.ts";
import { permissionFlags, type ServiceName, v8Flags } from "./task_flags.ts";

const SERVICES: ServiceName[] = ["agent", "eval"];
const DIST = resolve("dist");
const SOURCES = ["deno.json", "deno.lock", "agent", "eval", "shared", "docs"];

const outputOf = (service: ServiceName) => join(DIST, `assay-${service}`);

/** Bundled first: `deno compile` alone embeds the whole of each npm package. */
function compile(service: ServiceName, flags: string[]): boolean {
  return bundle(service) && deno(
    "compile",
    "--no-check", // of the bundle; that of the sources is the bundler's
    "--no-prompt",
    ...v8Flags(service),
    ...permissionFlags(service),
    ...workersOf(service).map((path) => `--include=bundle/${basename(path, ".ts")}.js`),
    ...(service === "eval" ? [PIECES, WEIGHTS].map((path) => `--include=bundle/${path}`) : []),
    // MCP servers are the agent's: the programs that it may start, the file that names them.
    ...flags.filter((flag) => service === "agent" || !/^--allow-(run|read)/.test(flag)),
    "-o",
    outputOf(service),
    "bundle/main.js",
  );
}

/** Writes `bundle/main.js`, what it loads on demand, and the workers, all in one folder. */
function bundle(service: ServiceName): boolean {
  const workers = workersOf(service);
  // The bundler keeps the folders of entries: each worker gets one beside the main module.
  for (const path of workers) {
    const entry = `import "./${relative(service, path)}";\n`;
    Deno.writeTextFileSync(join(copy, service, basename(path)), entry);
  }
  const entries = ["main.ts", ...workers.map((path) => basename(path))];
  const isDone = deno(
    "bundle",
    "--quiet",
    "--check",
    "--minify",
    "--code-splitting",
    "--outdir=bundle",
    ...entries.map((name) => `${service}/${name}`),
  );
  const folder = join(copy, "bundle");
  for (const { name } of isDone ? Deno.readDirSync(folder) : []) {
    if (!name.endsWith(".js")) continue;
    const text = Deno.readTextFileSync(join(folder, name));
    Deno.writeTextFileSync(join(folder, name), mend(text));
  }
  return isDone;
}

/** Deno (2.7.7) leaves the names of workers as they were, and minified modules without `require`. */
function mend(text: string): string {
  const named = text.replaceAll(
    /(?<=new URL\("\.\/\w+_worker\.)ts(?=",import\.meta\.url\))/g,
    "js",
  );
  return text.includes('Dynamic require of "') ? REQUIRE + named : named;
}

const REQUIRE = 'import{createRequire as __createRequire}from"node:module";' +
  "const require=__createRequire(import.meta.url);";

/** The files of the service that run in a thread of their own; no two have the same name. */
function workersOf(service: ServiceName): string[] {
  return globSync(`${service}/**/*_worker.ts`).filter((path) => dirname(path) !== service);
}

function deno(...args: string[]): boolean {
  const { success } = new Deno.Command(Deno.execPath(), {
    cwd: copy,
    args,
    stdout: "inherit",
    stderr: "inherit",
  }).outputSync();
  return success;
}

/**
 * A copy of the sources with the commit for `/version`. The working tree stays as it is: `deno task
 * dev` may be watching it.
 */
async function copySources(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "assay-compile-" });
  for (const name of SOURCES) cpSync(name, join(folder, name), { recursive: true });
  const version = join(folder, "shared/service/ops/version.ts");
  const text = await Deno.readTextFile(version);
  await Deno.writeTextFile(version, text.replace('"uncompiled"', JSON.stringify(readCommit())));
  for (const path of [PIECES, WEIGHTS]) cpSync(path, join(folder, "bundle", path));
  return folder;
}

/** `unknown` if the source is no git checkout, or git is not installed. */
function readCommit(): string {
  const git = (...args: string[]) =>
    new TextDecoder().decode(new Deno.Command("git", { args, stderr: "null" }).outputSync().stdout);
  try {
    const commit = git("rev-parse", "--short=12", "HEAD").trim();
    const isClean = git("status", "--porcelain", "--untracked-files=no").trim() === "";
    return commit === "" ? "unknown" : commit + (isClean ? "" : "-modified");
  } catch {
    return "unknown";
  }
}

const copy = await copySources();
try {
  for (const service of SERVICES) {
    if (compile(service, Deno.args)) continue;
    console.error(
      `\ncannot build dist/assay-${service}.\n` +
        "deno compile downloads its runtime base (denort) from dl.deno.land. If that host cannot be\n" +
        "reached, fetch denort for the same Deno version and target elsewhere and name the file:\n" +
        "  DENORT_BIN=/path/to/denort deno task compile",
    );
    Deno.exitCode = 1;
    break;
  }
} finally {
  await Deno.remove(copy, { recursive: true });
}
