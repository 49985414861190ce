import { assertEquals } from "@std/assert";
import { createBatcher } from "../../../../eval/assess/background/batcher.ts";
import { until } from "../../../fakes/until.ts";

Deno.test("calls of one moment go in batches of at most the given size, in order", async () => {
  const batches: number[][] = [];
  const double = createBatcher((inputs: number[]) => {
    batches.push(inputs);
    return Promise.resolve(inputs.map((input) => input * 2));
  }, { size: 3 });
  assertEquals(await Promise.all([1, 2, 3, 4].map(double)), [2, 4, 6, 8]);
  assertEquals(batches, [[1, 2, 3], [4]]);
  assertEquals(await double(5), 10);
});

Deno.test("a batch that fails fails its own calls and no others", async () => {
  const run = createBatcher(
    ([input]: string[]) =>
      input === "bad" ? Promise.reject(new Error("no")) : Promise.resolve(["ok"]),
    { size: 1 },
  );
  const results = await Promise.allSettled([run("bad"), run("good")]);
  assertEquals(results.map(({ status }) => status), ["rejected", "fulfilled"]);
});

Deno.test("another batch runs side by side only if more than a batch is waiting", async () => {
  const slots: number[] = [];
  const run = createBatcher((inputs: number[], slot) => {
    slots.push(slot);
    return Promise.resolve(inputs);
  }, { size: 2, parallel: 2 });
  await Promise.all([1, 2].map(run));
  assertEquals(slots, [0]);
  assertEquals(await Promise.all([1, 2, 3, 4].map(run)), [1, 2, 3, 4]);
  assertEquals(slots.toSorted(), [0, 0, 1]);
});

Deno.test("batches that run side by side share what is waiting", async () => {
  const batches: PromiseWithResolvers<void>[] = [];
  const sizes: number[] = [];
  const run = createBatcher(async (inputs: number[]) => {
    sizes.push(inputs.length);
    const batch = Promise.withResolvers<void>();
    batches.push(batch);
    await batch.promise;
    return inputs;
  }, { size: 8, parallel: 2, crowd: 2 });
  const first = run(0);
  await until(() => batches.length >= 1);
  const others = [1, 2, 3, 4].map(run);
  await until(() => batches.length >= 2);
  assertEquals(sizes, [1, 2]);
  for (let at = 0; at < batches.length; at++) {
    batches[at]!.resolve();
    await new Promise((resolve) => setTimeout(resolve));
  }
  assertEquals(await Promise.all([first, ...others]), [0, 1, 2, 3, 4]);
  assertEquals(sizes, [1, 2, 2]);
});

Deno.test("a burst begins no more batches than it needs, and the first has its part", async () => {
  const slots: number[] = [];
  const run = createBatcher((inputs: number[], slot) => {
    slots.push(slot);
    return Promise.resolve(inputs);
  }, { size: 32, parallel: 15, crowd: 8, waitMs: 1 });
  await Promise.all(Array.from({ length: 23 }, (_, index) => run(index)));
  assertEquals([...new Set(slots)].toSorted(), [0, 1, 2]);
});

Deno.test("while a further batch is prepared the first takes what is waiting, also if that fails", async () => {
  const slots: number[] = [];
  for (const outcome of ["resolve", "reject"] as const) {
    const ready = Promise.withResolvers<void>();
    const run = createBatcher((inputs: number[], slot) => {
      slots.push(slot);
      return Promise.resolve(inputs);
    }, { size: 1, parallel: 2, prepare: () => ready.promise });
    assertEquals(await Promise.all([1, 2, 3].map(run)), [1, 2, 3]);
    ready[outcome]();
    await ready.promise.catch(() => {});
    assertEquals(await run(4), 4);
  }
  assertEquals(new Set(slots), new Set([0]));
});

Deno.test("a first call waits for others, and no longer once a batch is full", async () => {
  const batches: number[][] = [];
  const run = createBatcher((inputs: number[]) => {
    batches.push(inputs);
    return Promise.resolve(inputs);
  }, { size: 2, waitMs: 3_600_000 });
  const first = run(1);
  await Promise.resolve();
  assertEquals(await Promise.all([first, run(2)]), [1, 2]);
  assertEquals(batches, [[1, 2]]);
});

Deno.test("a call that stays alone goes when its time is up", async () => {
  const run = createBatcher((inputs: number[]) => Promise.resolve(inputs), { size: 2, waitMs: 1 });
  assertEquals(await run(1), 1);
});
