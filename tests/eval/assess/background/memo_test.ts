import { createHash } from "node:crypto";
import { assertEquals, assertRejects } from "@std/assert";
import { createMemo, createSharedMemo } from "../../../../eval/assess/background/memo.ts";
import { rememberLast } from "../../../../eval/assess/background/remember_last.ts";

Deno.test("a memo computes a text once, forgets the one not used longest, and failures", async () => {
  const computed: string[] = [];
  const memo = createMemo((text) => {
    computed.push(text);
    return text === "bad" ? Promise.reject(new Error("no")) : Promise.resolve(text.length);
  }, { capacity: 2 });
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
  const computed: string[] = [];
  const limits = { longest: 3 };
  const length = (text: string) => {
    computed.push(text);
    return text.length;
  };
  const last = rememberLast(length, 1, limits);
  const memo = createMemo((text) => Promise.resolve(length(text)), { capacity: 1, ...limits });
  for (const remember of [last, memo]) {
    computed.length = 0;
    for (const text of ["abc", "abcd", "abcd", "abc"]) {
      assertEquals(await remember(text), text.length);
    }
    assertEquals(computed, ["abc", "abcd", "abcd"]);
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
    resultBytes: 0,
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
    resultBytes: 0,
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
    for (const until = performance.now() + 11; performance.now() < until;); // a whole stretch
    return Promise.resolve(computedIn.push(turn) && text);
  });
  await Promise.all(["a", "b", "c", "d"].map((letter) => memo(letter.repeat(100_000))));
  clearInterval(counting);
  assertEquals(new Set(computedIn).size, 4, `in turns ${computedIn}`);
});

Deno.test("functions that share a memo share its bytes, and never their results", async () => {
  const shared = createSharedMemo<string>({ capacity: 2 });
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
