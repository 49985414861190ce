import { assert } from "@std/assert";

/** Many times as long as it takes to report a leaving client, if that is reported at all. */
const ROUND_TRIPS = 200;

Deno.test("Deno.serve still does not report the leaving client of a plain request", async () => {
  const asked = Promise.withResolvers<Request>();
  const read = Promise.withResolvers<void>();
  const ending = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: ending.signal, onListen() {} },
    async (request) => {
      if (request.method === "GET") return new Response("here");
      asked.resolve(request);
      await request.text();
      read.resolve();
      await new Promise((resolve) => ending.signal.addEventListener("abort", resolve));
      return new Response("nobody waits for this");
    },
  );
  const { port } = server.addr;
  try {
    // The body follows its head in a packet of its own, as that of most clients does.
    const client = await Deno.connect({ hostname: "127.0.0.1", port });
    const send = (text: string) => client.write(new TextEncoder().encode(text));
    await send("POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5\r\n\r\n");
    const request = await asked.promise;
    await send("hello");
    await read.promise;
    client.close();
    for (let i = 0; i < ROUND_TRIPS && !request.signal.aborted; i++) {
      await (await fetch(`http://127.0.0.1:${port}/`)).text();
    }
    assert(
      !request.signal.aborted,
      `Deno ${Deno.version.deno} reports that the client of a plain request left: the reason for ` +
        "node:http is gone. Move shared/http/server/server.ts to Deno.serve (keep the limits for slow " +
        "clients and connections, see its tests), then delete this test.",
    );
  } finally {
    ending.abort();
    await server.finished;
  }
});
