import { assertEquals, assertRejects } from "@std/assert";
import { lazy } from "../../shared/lazy.ts";

Deno.test("the code of a lazy function is loaded once, by its first call", async () => {
  let loads = 0;
  const double = lazy(() => {
    loads++;
    return Promise.resolve((value: number) => value * 2);
  });
  assertEquals(loads, 0);
  assertEquals(await Promise.all([double(1), double(2)]), [2, 4]);
  assertEquals(loads, 1);
});

Deno.test("a lazy function whose code could not be loaded is loaded again by the next call", async () => {
  const outcomes = [Promise.reject(new Error("no file")), Promise.resolve(() => "here")];
  const call = lazy(() => outcomes.shift()!);
  await assertRejects(() => call(), Error, "no file");
  assertEquals(await call(), "here");
});
