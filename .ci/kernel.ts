/** `deno task kernel`: builds `kernel.as` into the two WebAssembly files beside it. */
import { compileKernel, KERNELS } from "./compile_kernel.ts";

for (const { file, features } of KERNELS) {
  await Deno.writeFile(file, await compileKernel(features));
}
