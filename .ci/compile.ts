// deno-lint-ignore-file no-console -- a script speaks to its terminal
/** `deno task compile [--target TRIPLE]`: both services as self-contained binaries in `dist/`. */
import { Buffer } from "node:buffer";
import { cpSync } from "node:fs";
import { join, resolve } from "node:path";
import { PIECES, WEIGHTS } from "../eval/assess/embeddings/bert/weights.ts";
import { permissionFlags, type ServiceName, v8Flags } from "./task_flags.ts";

const SERVICES: ServiceName[] = ["agent", "eval"];
const DIST = resolve("dist");
const SOURCES = ["deno.json", "deno.lock", "agent", "eval", "shared", "docs"];

/** What the bundler puts in place of `require`, unless Deno replaces it. */
const NO_REQUIRE = 'Dynamic require of "';

/**
 * Deno does not find the bundler's `require` if its short name has a `$`. Such a program cannot
 * start; it is built again with long names, which cost 3 MB.
 */
function compile(service: ServiceName, flags: string[]): boolean {
  if (!build(service, ["--minify", ...flags])) return false;
  if (!Buffer.from(Deno.readFileSync(outputOf(service))).includes(NO_REQUIRE)) return true;
  console.error(`the short names of dist/assay-${service} hide require: building it without them`);
  return build(service, ["--no-check", ...flags]); // the types of the bundle, checked before
}

const outputOf = (service: ServiceName) => join(DIST, `assay-${service}`);

function build(service: ServiceName, flags: string[]): boolean {
  const { success } = new Deno.Command(Deno.execPath(), {
    cwd: copy,
    args: [
      "compile",
      "--bundle", // plain compile embeds the whole of node_modules
      "--no-prompt",
      ...v8Flags(service),
      ...permissionFlags(service),
      ...(service === "eval" ? [`--include=${PIECES}`, `--include=${WEIGHTS}`] : []),
      // MCP servers are the agent's: the programs that it may start, the file that names them.
      ...flags.filter((flag) => service === "agent" || !/^--allow-(run|read)/.test(flag)),
      "-o",
      outputOf(service),
      `${service}/main.ts`,
    ],
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
  const version = join(folder, "shared/ops/version.ts");
  const text = await Deno.readTextFile(version);
  await Deno.writeTextFile(version, text.replace('"uncompiled"', JSON.stringify(readCommit())));
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
