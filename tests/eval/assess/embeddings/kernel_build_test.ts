import { assertEquals } from "@std/assert";

/** `undefined` if the compiler cannot be had: it is needed for nothing else. */
const compiler = await import("../../../../.ci/compile_kernel.ts").catch(() => undefined);

Deno.test({
  name: "the committed kernels are the build of their source",
  ignore: !compiler,
  async fn() {
    for (const build of compiler!.KERNELS) {
      const { file } = build;
      assertEquals(await compiler!.compileKernel(build), await Deno.readFile(file), file.href);
    }
  },
});
