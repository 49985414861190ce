import { assertEquals } from "@std/assert";
import { decodeEntities } from "../../../shared/pages/text/markdown_entities.ts";

Deno.test("character references become their characters, and unknown ones stay", () => {
  assertEquals(decodeEntities("a &amp; b &lt;c&gt; &#65;&#x42; &hellip;"), "a & b <c> AB …");
  assertEquals(decodeEntities("&unknown; & &#0; &#x110000;"), "&unknown; & \ufffd \ufffd");
  assertEquals(decodeEntities("auto f = &toString;"), "auto f = &toString;");
});
