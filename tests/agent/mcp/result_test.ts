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

Deno.test("a resource that is an image is sent as one", () => {
  const resource = (mimeType: string) => ({
    type: "resource",
    resource: { uri: "demo://1", mimeType, blob: "xx" },
  });
  assertEquals(readResult({ content: [resource("image/png"), resource("audio/wav")] }), {
    text: "(a resource: demo://1)\n\n(a resource: demo://1)",
    images: [{ type: "image_url", image_url: { url: "data:image/png;base64,xx" } }],
  });
});

Deno.test("an image that models do not take is only named", () => {
  for (const mimeType of ["image/svg+xml", "image/tiff", "image/x-icon", "image/png-x"]) {
    const content = [
      { type: "image", mimeType, data: "xx" },
      { type: "resource", resource: { uri: "demo://1", mimeType, blob: "xx" } },
    ];
    const text = `(image: ${mimeType})\n\n(a resource: demo://1)`;
    assertEquals(readResult({ content }), { text, images: [] });
  }
  for (const mimeType of ["image/jpeg", "image/jpg", "IMAGE/PNG", "image/gif", "image/webp; q=1"]) {
    assertEquals(readResult({ content: { type: "image", mimeType, data: "xx" } }).images.length, 1);
  }
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

Deno.test("a part of another form than the protocol says costs nothing of the rest", () => {
  const content = [
    { type: "widget", html: "<b>" },
    { type: "image", data: "xx" },
    { type: "resource_link", uri: "demo://3" },
    { type: "resource", resource: "demo://4" },
    { type: "text", text: "a", annotations: { priority: 7 } },
    "b",
    null,
  ];
  assertEquals(readResult({ content }), {
    text: [
      "(widget: unknown type)",
      "(image: unknown type)",
      "(a link:  demo://3)",
      "(a resource: unnamed)",
      "a",
      "b",
      "(something: unknown type)",
    ].join("\n\n"),
    images: [],
  });
  assertEquals(readResult({ content: "a" }).text, "a");
});
