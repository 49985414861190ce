/** `deno task kernel`: builds the encoder's `.as` files into the two WebAssembly files beside them. */
import { compileKernel, KERNELS } from "./compile_kernel.ts";

for (const { file, features } of KERNELS) {
  await Deno.writeFile(file, await compileKernel(features));
}
