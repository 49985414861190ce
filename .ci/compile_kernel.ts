import asc from "assemblyscript/asc";

const FOLDER = new URL("../eval/assess/embeddings/bert/", import.meta.url);
const SOURCE = new URL("kernel.as", FOLDER);

/** Every build of the kernel: where it is kept, and what it needs of a processor. */
export const KERNELS = [
  { file: new URL("kernel_relaxed.wasm", FOLDER), features: ["simd", "relaxed-simd"] },
  { file: new URL("kernel_plain.wasm", FOLDER), features: ["simd"] },
];

/** Throws with the compiler's messages if the source does not compile. */
export async function compileKernel(features: string[]): Promise<Uint8Array<ArrayBuffer>> {
  const source = await Deno.readTextFile(SOURCE);
  let built: Uint8Array<ArrayBuffer> | undefined;
  const { error, stderr } = await asc.main(
    [
      "kernel.ts",
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
      readFile: (name: string) => name === "kernel.ts" ? source : null,
      writeFile: (_name, contents) => {
        if (typeof contents !== "string") built = Uint8Array.from(contents);
      },
      listFiles: () => [],
    },
  );
  if (error || !built) throw new Error(`cannot compile the kernel: ${stderr}`);
  return built;
}
