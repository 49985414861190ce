import { assert, assertEquals } from "@std/assert";
import { cutWindows, MAX_WINDOWS } from "../../../../eval/assess/embeddings/windows.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`).join(" ");

Deno.test("a short text is one window, as it is", () => {
  assertEquals(cutWindows("two words"), ["two words"]);
  assertEquals(cutWindows(""), [""]);
});

Deno.test("a longer text is cut where the encoder would stop reading, and nothing is lost", () => {
  const windows = cutWindows(numbered(200));
  assertEquals(windows.length, 4);
  assertEquals(windows.join(" "), numbered(200));
});

Deno.test("a window ends with a sentence if one ends in it", () => {
  const sentences = ["one", "two", "three"].map((last) => `${numbered(30)} ${last}.`);
  assertEquals(cutWindows(sentences.join(" ")), [sentences.slice(0, 2).join(" "), sentences[2]!]);
});

Deno.test("a window of any script fits into what the encoder reads", () => {
  for (const text of ["您的订单已经发货。".repeat(60), "Ваша посылка уже в пути. ".repeat(60)]) {
    const windows = cutWindows(text);
    assert(windows.length > 2);
    assert(windows.every((window) => window.length <= 256), `${windows[0]!.length}`);
    assertEquals(windows.join("").replaceAll(" ", ""), text.replaceAll(" ", ""));
  }
});

Deno.test("of a very long text windows from its beginning to its end are taken", () => {
  const windows = cutWindows(numbered(100_000));
  assertEquals(windows.length, MAX_WINDOWS);
  assert(windows[0]!.startsWith("w0 "));
  assert(windows.at(-1)!.endsWith("w99999"));
});

Deno.test("a word of a megabyte is cut too", () => {
  const windows = cutWindows("x".repeat(1_000_000));
  assertEquals(windows.length, MAX_WINDOWS);
  assert(windows.every((window) => window.length < 4000));
});
