import { assertEquals, assertRejects } from "@std/assert";
import { createSuspects } from "../../../eval/run/manager/resumption/suspects.ts";

Deno.test("suspects are scored one by one, those with the fewest tries first", async () => {
  const { score } = createSuspects();
  const order: number[] = [];
  let working = 0;
  let most = 0;
  const work = (tries: number) =>
    score(tries, async () => {
      most = Math.max(most, ++working);
      order.push(tries);
      await Promise.resolve();
      working--;
      return tries;
    });
  assertEquals(await Promise.all([2, 1, 2, 1, 0].map(work)), [2, 1, 2, 1, 0]);
  assertEquals([order, most], [[0, 1, 1, 2, 2], 1]);
});

Deno.test("a suspect whose scoring throws does not stop the others", async () => {
  const { score } = createSuspects();
  const failing = score(1, () => Promise.reject(new Error("no")));
  const next = score(1, () => Promise.resolve("scored"));
  await assertRejects(() => failing, Error, "no");
  assertEquals(await next, "scored");
});
