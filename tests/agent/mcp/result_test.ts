import { assertEquals } from "@std/assert";
import { readResult } from "../../../agent/mcp/result.ts";

Deno.test("a result is returned as text, and other content is named", () => {
  assertEquals(
    readResult({
      content: [
        { type: "text", text: "a" },
        { type: "image", mimeType: "image/png", data: "xx" },
        { type: "resource", resource: { uri: "demo://1", text: "b" } },
        { type: "resource_link", name: "c", uri: "demo://2" },
      ],
    }),
    {
      text: "a\n\n(image: image/png)\n\nb\n\n(a link: c demo://2)",
      images: [{ type: "image_url", image_url: { url: "data:image/png;base64,xx" } }],
    },
  );
  assertEquals(readResult({ content: [], structuredContent: { x: 1 } }), {
    text: '{"x":1}',
    images: [],
  });
});

Deno.test("images beyond the limits of a result are only named", () => {
  const image = (data: string) => ({ type: "image", mimeType: "image/png", data });
  const many = readResult({ content: Array(10).fill(image("xx")) });
  assertEquals([many.images.length, many.text.match(/image\/png/g)?.length], [8, 10]);
  const large = readResult({ content: [image("x".repeat(4_000_001)), image("xx")] });
  assertEquals(large.images.length, 1);
  assertEquals(readResult({ content: [{ type: "image", mimeType: "text/html", data: "x" }] }), {
    text: "(image: text/html)",
    images: [],
  });
});
