import asc from "assemblyscript/asc";

const FOLDER = new URL("../eval/assess/embeddings/bert/kernel/", import.meta.url);

/** Every build of the kernel: where it is kept, and what it needs of a processor. */
export const KERNELS = [
  { file: new URL("relaxed.wasm", FOLDER), features: ["simd", "relaxed-simd"] },
  { file: new URL("plain.wasm", FOLDER), features: ["simd"] },
];

/** Throws with the compiler's messages if the source does not compile. */
export async function compileKernel(features: string[]): Promise<Uint8Array<ArrayBuffer>> {
  let built: Uint8Array<ArrayBuffer> | undefined;
  const { error, stderr } = await asc.main(
    [
      "index.ts",
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
      readFile: readSource,
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
    return await Deno.readTextFile(new URL(name.replace(/\.ts$/, ".as"), FOLDER));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
