import asc from "assemblyscript/asc";

const FOLDER = new URL("../eval/assess/embeddings/bert/kernel/", import.meta.url);

interface WasmBuild {
  /** Where it is kept. */
  file: URL;
  /** What it needs of a processor. */
  features: string[];
  /** `index` if unset. */
  source?: string;
  /** Sources that stand for others of the same functions. */
  instead?: Record<string, string>;
}

const RELAXED = ["simd", "relaxed-simd"];

/** Every build of the kernel, and what tells which of them is the best. */
export const KERNELS: WasmBuild[] = [
  { file: new URL("relaxed.wasm", FOLDER), features: RELAXED },
  {
    file: new URL("pairs.wasm", FOLDER),
    features: RELAXED,
    instead: { products: "pair_products" },
  },
  { file: new URL("plain.wasm", FOLDER), features: ["simd"] },
  { file: new URL("probe.wasm", FOLDER), features: RELAXED, source: "probe" },
];

/** Throws with the compiler's messages if the source does not compile. */
export async function compileKernel(
  { features, source = "index", instead = {} }: WasmBuild,
): Promise<Uint8Array<ArrayBuffer>> {
  let built: Uint8Array<ArrayBuffer> | undefined;
  const { error, stderr } = await asc.main(
    [
      `${source}.ts`,
      "--outFile=kernel.wasm",
      "--optimizeLevel=2", // a higher one moves operations so that registers do not suffice
      "--noAssert",
      "--importMemory",
      "--initialMemory=1", // addresses below it need no check
      "--memoryBase=64",
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
