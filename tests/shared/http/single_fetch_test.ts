import { assertEquals, assertRejects } from "@std/assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createSingleFetch } from "../../../shared/http/fetch/single_fetch.ts";

Deno.test("a request whose connection is reset is sent once, with its length", async () => {
  const lengths: (string | undefined)[] = [];
  const server = createServer((request) => {
    lengths.push(request.headers["content-length"]);
    request.socket.resetAndDestroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const send = createSingleFetch(fetch);
    await assertRejects(() => send(`http://127.0.0.1:${port}`, { method: "POST", body: "{}" }));
    assertEquals(lengths, ["2"]);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

Deno.test("the text arrives as it is, also after a redirect", async () => {
  const server = createServer((request, response) => {
    if (request.url === "/there") return void request.pipe(response);
    request.resume().once("end", () => response.writeHead(307, { location: "/there" }).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const send = createSingleFetch(fetch);
    for (const body of ["", "é", "long ".repeat(50_000)]) {
      const response = await send(`http://127.0.0.1:${port}`, { method: "POST", body });
      assertEquals(await response.text(), body);
    }
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
