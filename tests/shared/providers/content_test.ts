import { assertEquals } from "@std/assert";
import {
  isBlankContent,
  joinContents,
  nameOf,
  simplifyContent,
  textOf,
  withNameInText,
  withoutBlankTexts,
} from "../../../shared/providers/content.ts";
import type { ChatMessage } from "../../../shared/providers/provider.ts";

const text = (text: string) => ({ type: "text", text });
const image = { type: "image_url", image_url: { url: "data:," } };
const cached = { ...text("a"), cache_control: { type: "ephemeral" } };

Deno.test("content is blank if it has neither text nor any other part", () => {
  for (const blank of ["", " \n", [], [text("")], [text(" "), text("\n")]]) {
    assertEquals(isBlankContent(blank), true, JSON.stringify(blank));
  }
  for (const said of ["a", [text("a")], [image], [text(""), image], [{ type: "text" }]]) {
    assertEquals(isBlankContent(said), false, JSON.stringify(said));
  }
});

Deno.test("two texts are joined by a blank line, and parts stay parts", () => {
  assertEquals(joinContents("a", "b"), "a\n\nb");
  assertEquals(joinContents("a", [image]), [text("a"), image]);
  assertEquals(joinContents([image], "b"), [image, text("b")]);
  assertEquals(textOf([text("a"), image, text("b")]), "ab");
});

Deno.test("blank texts are left out beside other parts only", () => {
  assertEquals(withoutBlankTexts([text(" "), image]), [image]);
  assertEquals(withoutBlankTexts([text(" ")]), [text(" ")]);
  assertEquals(withoutBlankTexts([text("a"), image]), [text("a"), image]);
});

Deno.test("parts of plain text are text; a part that carries more stays as it is", () => {
  assertEquals(simplifyContent([text("a"), text("b")]), "ab");
  assertEquals(simplifyContent([cached]), [cached]);
  assertEquals(simplifyContent([text("a"), image]), [text("a"), image]);
});

Deno.test("the name of an author goes into the text; a tool is no author", () => {
  const extra = { name: " ann " };
  assertEquals(nameOf({ role: "user", content: "Hi", extra }), "ann");
  assertEquals(nameOf({ role: "tool", content: "Hi", extra }), undefined);
  assertEquals(nameOf({ role: "user", content: "Hi", extra: { name: " " } }), undefined);
  const said = (content: string, extra: Record<string, unknown>): ChatMessage => ({
    role: "user",
    content,
    extra,
  });
  assertEquals(withNameInText(said("Hi", extra)), { role: "user", content: "ann: Hi" });
  assertEquals(withNameInText(said(" ", { ...extra, more: 1 })), said(" ", { more: 1 }));
});
