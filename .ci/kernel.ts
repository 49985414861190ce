/** `deno task kernel`: builds the encoder's `.as` files into the WebAssembly files beside them. */
import asc from "npm:assemblyscript@0.28.20/asc";
import { MEMORY_PAGES } from "../eval/score/embeddings/bert/layout.ts";

const FOLDER = new URL("../eval/score/embeddings/bert/kernel/", import.meta.url);

interface WasmBuild {
  /** Where it is kept. */
  file: URL;
  /** What it needs of a processor. */
  features: string[];
  /** `index` if unset. */
  source?: string;
  /** That of a kernel if unset. */
  memory?: string[];
  /** Sources that stand for others of the same functions. */
  instead?: Record<string, string>;
}

const PLAIN = ["simd", "threads"];
const RELAXED = [...PLAIN, "relaxed-simd"];

/** Shared, and of one size: if it could grow, each access would look up how large it is. */
const KERNEL_MEMORY = [
  "--importMemory",
  "--sharedMemory",
  `--initialMemory=${MEMORY_PAGES}`,
  `--maximumMemory=${MEMORY_PAGES}`,
  "--memoryBase=64",
];

/** Every build of the kernel, and what tells which of them is the best. */
export const KERNELS: WasmBuild[] = [
  { file: new URL("relaxed.wasm", FOLDER), features: RELAXED },
  {
    file: new URL("pairs.wasm", FOLDER),
    features: RELAXED,
    instead: { products: "pair_products" },
  },
  { file: new URL("plain.wasm", FOLDER), features: PLAIN },
  { file: new URL("probe.wasm", FOLDER), features: RELAXED, source: "probe", memory: [] },
];

/** Throws with the compiler's messages if the source does not compile. */
export async function compileKernel(
  { features, source = "index", memory = KERNEL_MEMORY, instead = {} }: WasmBuild,
): Promise<Uint8Array<ArrayBuffer>> {
  let built: Uint8Array<ArrayBuffer> | undefined;
  const { error, stderr } = await asc.main(
    [
      `${source}.ts`,
      "--outFile=kernel.wasm",
      "--optimizeLevel=2", // a higher one moves operations so that registers do not suffice
      "--noAssert",
      ...memory,
      "--runtime=stub",
      ...features.map((feature) => `--enable=${feature}`),
    ],
    {
      readFile: (name) => {
        const asked = name.replace(/\.ts$/, "");
        return readSource(`${instead[asked] ?? asked}.as`);
      },
      writeFile: (_name, contents) => {
        if (typeof contents !== "string") built = Uint8Array.from(contents);
      },
      listFiles: () => [],
    },
  );
  if (error || !built) throw new Error(`cannot compile the kernel: ${stderr}`);
  return built;
}

/** `null` if there is none: the compiler tries several names. Deno would check a source in `.ts`. */
async function readSource(name: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(new URL(name, FOLDER));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

if (import.meta.main) {
  for (const build of KERNELS) await Deno.writeFile(build.file, await compileKernel(build));
}
