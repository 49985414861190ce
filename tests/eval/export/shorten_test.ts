import { assertEquals } from "@std/assert";
import { oneLine, oneLineEnds, printable } from "../../../eval/export/text/shorten.ts";

Deno.test("somebody else's text has nothing that a terminal or a page would act on", () => {
  const hostile = [
    "\x1b[31m", // a colour
    "\u0007", // a bell
    "\u009b", // a control sequence in one character
    "\u202e", // right to left from here
    "\u2066", // the same, isolated
    "\u061c", // an Arabic letter mark
    "\u200f", // a right-to-left mark
    "\u2028", // a line separator
  ];
  for (const text of hostile) {
    const [first = ""] = text;
    assertEquals(oneLine(`a${text}b`, 99).includes(first), false, JSON.stringify(text));
    assertEquals(printable(`a${text}b`).includes(first), false, JSON.stringify(text));
  }
  assertEquals(oneLine(" a\r\n\tb ", 99), "a b");
  assertEquals(printable("a\nb\rc"), "a\nb c");
});

Deno.test("a text that is cut says so, at its end or in its middle", () => {
  assertEquals(oneLine("0123456789", 10), "0123456789");
  assertEquals(oneLine("0123456789a", 10), "012345678…");
  assertEquals(oneLineEnds("0123456789", 10), "0123456789");
  assertEquals(oneLineEnds("0123456789a", 10), "012 … 89a");
  assertEquals(oneLineEnds("0123456789😀bc", 10).isWellFormed(), true);
});
