// deno-lint-ignore-file no-console -- a script speaks to its terminal
/** `deno task compile [--target TRIPLE]`: both services as self-contained binaries in `dist/`. */
import { Buffer } from "node:buffer";
import { BGE_ZH } from "../eval/assess/embeddings/bert/bge_zh.ts";
import { imagePath, writeImage } from "../eval/assess/embeddings/bert/image.ts";
import { MINILM } from "../eval/assess/embeddings/bert/minilm.ts";
import { createSentenceModel } from "../eval/assess/embeddings/bert/sentence_model.ts";
import { type ModelSource, vocabularyOf } from "../eval/assess/embeddings/bert/weight_piece.ts";
import { permissionFlags, type ServiceName, v8Flags } from "./task_flags.ts";

const SERVICES: ServiceName[] = ["agent", "eval"];
/** The weights of each are put into the binary as they lie in memory. */
const MODELS = [MINILM, BGE_ZH];
const IMAGES = MODELS.map(({ name }) => imagePath(name));
const BUILD = new URL("../shared/ops/build.ts", import.meta.url);

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

const outputOf = (service: ServiceName) => `dist/assay-${service}`;

function build(service: ServiceName, flags: string[]): boolean {
  const { success } = new Deno.Command(Deno.execPath(), {
    args: [
      "compile",
      "--frozen",
      "--bundle", // plain compile embeds the whole of node_modules
      "--no-prompt",
      ...v8Flags(service),
      ...permissionFlags(service),
      ...(service === "eval" ? IMAGES.map((image) => `--include=${image}`) : []),
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

/** Packs the weights of the sentence encoders for as long as `work` takes. */
async function withImages(work: () => boolean): Promise<boolean> {
  for (const model of MODELS) await Deno.writeFile(imagePath(model.name), await packModel(model));
  try {
    return work();
  } finally {
    for (const image of IMAGES) await Deno.remove(image);
  }
}

async function packModel({ shape, read }: ModelSource): Promise<Uint8Array> {
  const model = createSentenceModel(shape);
  let vocabulary: string[] = [];
  for await (const piece of read()) {
    model.load(piece);
    vocabulary = vocabularyOf(piece) ?? vocabulary;
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

for (const service of SERVICES) {
  if (await withImages(() => withCommit(() => compile(service, Deno.args)))) continue;
  console.error(
    `\ncannot build dist/assay-${service}.\n` +
      "deno compile downloads its runtime base (denort) from dl.deno.land. If that host cannot be\n" +
      "reached, fetch denort for the same Deno version and target elsewhere and name the file:\n" +
      "  DENORT_BIN=/path/to/denort deno task compile",
  );
  Deno.exit(1);
}
