import { assertEquals } from "@std/assert";
import { describeResult } from "../../../agent/mcp/result.ts";

Deno.test("a result is returned as text, and other content is named", () => {
  assertEquals(
    describeResult({
      content: [
        { type: "text", text: "a" },
        { type: "image", mimeType: "image/png", data: "xx" },
        { type: "resource", resource: { uri: "demo://1", text: "b" } },
        { type: "resource_link", name: "c", uri: "demo://2" },
      ],
    }),
    "a\n\n(image: image/png)\n\nb\n\n(a link: c demo://2)",
  );
  assertEquals(describeResult({ content: [], structuredContent: { x: 1 } }), '{"x":1}');
});
