import { assertEquals, assertRejects } from "@std/assert";
import { createHash } from "node:crypto";
import { createBatcher } from "../../../../eval/score/background/batcher.ts";
import { createMemo, createSharedMemo } from "../../../../eval/score/background/memo.ts";
import { rememberLast } from "../../../../eval/score/background/remember_last.ts";
import { until } from "../../../fakes/until.ts";

Deno.test("a memo computes a text once, forgets the one not used longest, and failures", async () => {
  const computed: string[] = [];
  const memo = createMemo((text) => {
    computed.push(text);
    return text === "bad" ? Promise.reject(new Error("no")) : Promise.resolve(text.length);
  }, { maxBytes: 250, sizeOf: () => 100 });
  await Promise.all([memo("a"), memo("a"), memo("b")]);
  await memo("a");
  await memo("c"); // pushes out b, because a was used since
  await memo("a");
  await memo("b");
  assertEquals(computed, ["a", "b", "c", "b"]);
  await assertRejects(() => memo("bad"));
  await assertRejects(() => memo("bad"));
  assertEquals(computed.filter((text) => text === "bad").length, 2);
});

Deno.test("what a text gave is remembered while it is used, and forgotten after twice the capacity", () => {
  const computed: string[] = [];
  const last = rememberLast((text) => computed.push(text), 2);
  for (const text of ["a", "b", "a", "c", "a", "d", "a", "e", "a", "b"]) last(text);
  assertEquals(computed, ["a", "b", "c", "d", "e", "b"]);
});

Deno.test("a text longer than the limit is computed every time and pushes nothing out", async () => {
  const computed: number[] = [];
  const length = (text: string) => {
    computed.push(text.length);
    return text.length;
  };
  const last = rememberLast(length, 1, { longest: 3 });
  const memo = createMemo((text) => Promise.resolve(length(text)), { maxBytes: 8000 });
  for (const [remember, longest] of [[last, 3], [memo, 1_000_000]] as const) {
    computed.length = 0;
    for (const more of [0, 1, 1, 0]) {
      assertEquals(await remember("a".repeat(longest + more)), longest + more);
    }
    assertEquals(computed, [longest, longest + 1, longest + 1]);
  }
});

Deno.test("results that grow with their texts are kept for so many characters and no more", () => {
  const computed: string[] = [];
  const last = rememberLast((text) => computed.push(text), 100, { maxCharacters: 10 });
  for (const text of ["aaaa", "bbbb", "cccc", "dddd", "eeee"]) last(text); // a and b are forgotten
  computed.length = 0;
  for (const text of ["dddd", "cccc", "aaaa"]) last(text);
  assertEquals(computed, ["aaaa"]);
});

Deno.test("a memo holds no more bytes than it may, whatever the texts", async () => {
  let computed = 0;
  const memo = createMemo((text) => Promise.resolve(computed += text.length), {
    maxBytes: 20_000,
    sizeOf: () => 0,
  });
  const texts = Array.from({ length: 10 }, (_, index) => `${index}`.repeat(2000));
  for (const text of texts) await memo(text); // 4 kB each: the last four stay
  computed = 0;
  for (const text of texts.slice(-4)) await memo(text);
  assertEquals(computed, 0);
  await memo(texts[0]!);
  assertEquals(computed, 2000);
});

Deno.test("long texts are remembered by their digests, which take the same few bytes for all", async () => {
  const computed: string[] = [];
  const memo = createMemo((text) => Promise.resolve(computed.push(text)), {
    maxBytes: 1000,
    sizeOf: () => 0,
  });
  const texts = ["a", "b", "c"].map((letter) => letter.repeat(100_000));
  for (const text of [...texts, ...texts]) await memo(text);
  assertEquals(computed, texts);
  const digest = createHash("sha256").update(texts[0]!).digest("hex");
  for (const text of [digest, `#${digest}`]) await memo(text);
  assertEquals(computed.length, 5, "a short text is never taken for a long one");
});

Deno.test("the event loop runs between long texts that come together", async () => {
  let turn = 0;
  const counting = setInterval(() => turn++, 0);
  const computedIn: number[] = [];
  const memo = createMemo((text) => {
    for (const until = performance.now() + 11; performance.now() < until;); // over one stretch
    return Promise.resolve(computedIn.push(turn) && text);
  });
  await Promise.all(["a", "b", "c", "d"].map((letter) => memo(letter.repeat(100_000))));
  clearInterval(counting);
  assertEquals(new Set(computedIn).size, 4, `in turns ${computedIn}`);
});

Deno.test("functions that share a memo share its bytes, and never their results", async () => {
  const shared = createSharedMemo<string>({ maxBytes: 250, sizeOf: () => 100 });
  const computed: string[] = [];
  const remembering = (name: string) =>
    shared.of((text) => {
      computed.push(name + text);
      return Promise.resolve(name + text);
    });
  const [one, two] = [remembering("one "), remembering("two ")];
  assertEquals([await one("a"), await two("a"), await one("a")], ["one a", "two a", "one a"]);
  await one("b"); // pushes out what two remembers: it was used longest ago
  await two("a");
  assertEquals(computed, ["one a", "two a", "one b", "two a"]);
});

Deno.test("a result that may be another the next time is not remembered", async () => {
  const outcomes = ["missing", "there", "never"];
  const memo = createSharedMemo<string>().of(
    () => Promise.resolve(outcomes.shift()!),
    (outcome) => outcome !== "missing",
  );
  assertEquals([await memo("a"), await memo("a"), await memo("a")], [
    "missing",
    "there",
    "there",
  ]);
});

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
