/** `deno task kernel`: builds the encoder's `.as` files into the WebAssembly files beside them. */
import { compileKernel, KERNELS } from "./compile_kernel.ts";

for (const build of KERNELS) {
  await Deno.writeFile(build.file, await compileKernel(build));
}
